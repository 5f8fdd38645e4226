import type { Command } from 'commander'
import { print } from './output.ts'

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .summary('check settings, database and machine for problems')
    .description(
      'check settings, database, migrations, git, repositories, disk space, clock, secrets and stored counts for problems; changes nothing and ' +
        'does not block the service. Counting takes a while on a large database. Exits with status 1 if a check fails',
    )
    .action(async (_options: object, command: Command) => {
      const { describeFindings, doctor } = await import('../doctor/doctor.ts')
      const findings = await doctor(process.env)
      print(command, findings, describeFindings(findings))
      const failed = findings.filter(({ status }) => status === 'error').length
      if (failed > 0) throw new Error(`${failed} of ${findings.length} checks failed`)
    })
}
