import type { Signal } from '@promptledger/client'
import { Undo2 } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { Time } from '../ui/time.tsx'
import { Metadata } from './metadata.tsx'
import { Value } from './value.tsx'

interface Props {
  signals: Signal[]
  onTakeBack: (signal: Signal) => void
}

export function SignalTable({ signals, onTakeBack }: Props) {
  return (
    <div className="table-frame">
      <table className="table signal-table">
        <caption className="unseen">Signals, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Value</th>
            <th scope="col">Time</th>
            <th scope="col">Metadata</th>
            <th scope="col">
              <span className="unseen">Acts</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {signals.map((signal) => (
            <tr key={signal.id}>
              <th scope="row">
                <Value value={signal.value} />
              </th>
              <td data-label="Time" className="nowrap">
                <Time at={signal.created_at} />
              </td>
              <td data-label="Metadata" className="wide">
                <Metadata metadata={signal.metadata} />
              </td>
              <td>
                <div className="acts">
                  <Button onClick={() => onTakeBack(signal)} aria-label={`Take back signal ${signal.id}`}>
                    <Undo2 aria-hidden="true" />
                    Take back
                  </Button>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
