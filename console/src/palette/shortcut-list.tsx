import { shortcuts } from '../shortcuts.ts'
import { Dialog } from '../ui/dialog.tsx'

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

export function ShortcutList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcut-list">
        {shortcuts.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key === 'Ctrl' && isMac ? '⌘' : key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
