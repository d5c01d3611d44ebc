import type { ToolManager } from '@lockstep/client-tools'

/** Offers the time in a time zone. */
export function offerCurrentTime(tools: ToolManager): Promise<void> {
  return tools.register(
    'current-time',
    {
      description: 'The current date and time in a time zone.',
      parameters: {
        type: 'object',
        properties: { zone: { type: 'string', description: 'A name of the IANA database, such as Europe/Warsaw' } },
        required: ['zone'],
      },
    },
    ({ zone }) => {
      const now = new Date()
      // An unknown zone throws: its message becomes the error that the model sees.
      const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', timeZone: zone })
      return { title: `Time in ${zone}`, output: time.format(now), metadata: { utc: now.toISOString() } }
    },
  )
}
