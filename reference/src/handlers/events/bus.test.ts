import { describe, expect, it } from 'vitest'
import type { BusEvent } from '#contract'
import { Bus } from './bus.ts'

/** An event whose client identifies it. */
function event(clientID: string): BusEvent {
  return { type: 'client-tool.registered', properties: { clientID, toolIDs: [] } }
}

function name(event: BusEvent): string {
  return 'clientID' in event.properties ? event.properties.clientID : ''
}

describe('Bus', () => {
  it('gives every listener the event and its directory before publish returns', () => {
    const bus = new Bus()
    const heard: string[] = []
    bus.subscribe((event, directory) => heard.push(`a ${name(event)} ${directory}`))
    bus.subscribe((event, directory) => heard.push(`b ${name(event)} ${directory}`))
    bus.publish('/x', event('1'))
    bus.publish('/y', event('2'))
    expect(heard).toEqual(['a 1 /x', 'b 1 /x', 'a 2 /y', 'b 2 /y'])
  })

  it('does not call listeners that were removed, or that are added during the event', () => {
    const bus = new Bus()
    const heard: string[] = []
    const leave = bus.subscribe((event) => heard.push(`left ${name(event)}`))
    bus.subscribe((event) => {
      heard.push(`first ${name(event)}`)
      leaveLater()
      bus.subscribe((event) => heard.push(`new ${name(event)}`))
    })
    const leaveLater = bus.subscribe((event) => heard.push(`leaving ${name(event)}`))
    leave()
    bus.publish('/', event('1'))
    expect(heard).toEqual(['first 1'])
    bus.publish('/', event('2'))
    expect(heard).toEqual(['first 1', 'first 2', 'new 2'])
  })

  it('gives all listeners an event before any event that a listener publishes in response', () => {
    const bus = new Bus()
    const heard: string[] = []
    bus.subscribe((heardEvent) => {
      heard.push(`a ${name(heardEvent)}`)
      if (name(heardEvent) === 'cause') bus.publish('/', event('effect'))
    })
    bus.subscribe((event) => heard.push(`b ${name(event)}`))
    bus.publish('/', event('cause'))
    expect(heard).toEqual(['a cause', 'b cause', 'a effect', 'b effect'])
  })

  it('continues after a listener that throws', () => {
    const bus = new Bus()
    const heard: string[] = []
    bus.subscribe((event) => {
      heard.push(name(event))
      if (name(event) === '1') throw new Error('broken')
    })
    expect(() => {
      bus.publish('/', event('1'))
    }).toThrow('broken')
    bus.publish('/', event('2'))
    expect(heard).toEqual(['1', '2'])
  })
})
