/** What people can be told about. */
export const noticeKinds = ['regression', 'shift', 'limit', 'repository'] as const

export type NoticeKind = (typeof noticeKinds)[number]

export const noticeStates = ['open', 'ended'] as const

export type NoticeState = (typeof noticeStates)[number]
