import { connect, type Socket } from 'node:net'

/** Opens a TCP connection to a local port. Errors after that end in the `close` event. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      socket.off('error', reject).on('error', () => {})
      resolve(socket)
    })
    socket.once('error', reject)
  })
}
