import { isObject } from '../json/is-object.ts'
import { JsonNumber } from '../json/number.ts'
import type { Logger } from '../log.ts'
import type { ToolCall } from '../message/result.ts'
import type { Settings } from '../settings/settings.ts'

/** Something that a text looks like. */
interface Danger {
  finding: string
  /** From 0 to 1. */
  confidence: number
  /** Part of what the expression finds, and found in a moment: most texts need no other look. */
  needs?: RegExp
  expression: RegExp
}

const pipeToShell = /\|[ \t]{0,8}(sudo[ \t]{1,8})?(ba|z|k|da)?sh\b/u
const device = /\/dev\//u

/** The table of docs/behaviour/goose-api.md (M64), the highest confidence first: so the first that fits is the one to tell of. */
const dangers: readonly Danger[] = [
  {
    finding: 'Deletes the root or the home directory',
    confidence: 0.95,
    expression: /\brm([ \t]+-[A-Za-z-]{1,32}){1,8}[ \t]+["']?(\/|~|\$HOME|\$\{HOME\})\/?\*?["']?([ \t\n;&|)]|$)/u,
  },
  {
    finding: 'Overwrites a disk',
    confidence: 0.95,
    needs: device,
    expression: /(\bdd[ \t][^\n;&|]{0,200}\bof=|>[ \t]{0,8})["']?\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk)[a-z0-9]/u,
  },
  {
    finding: 'Makes a file system',
    confidence: 0.95,
    needs: device,
    expression: /\bmkfs(\.[a-z0-9]{1,16})?[ \t][^\n;&|]{0,200}\/dev\/[a-z]/u,
  },
  {
    finding: 'Runs a fork bomb',
    confidence: 0.95,
    expression: /:[ \t]{0,8}\([ \t]{0,8}\)[ \t]{0,8}\{[ \t\n]{0,8}:[ \t]{0,8}\|[ \t]{0,8}:[ \t]{0,8}&/u,
  },
  {
    finding: 'Runs a script from the network',
    confidence: 0.95,
    needs: pipeToShell,
    expression: /\b(curl|wget)[ \t][^\n|]{0,800}\|[ \t]{0,8}(sudo[ \t]{1,8})?(ba|z|k|da)?sh\b/u,
  },
  {
    finding: 'Opens a shell to the network',
    confidence: 0.95,
    needs: /\/(dev|bin)\//u,
    expression: /(\/dev\/(tcp|udp)\/[^ \t\n]|\b(nc|ncat|netcat)[ \t][^\n;&|]{0,200}-[a-z]{0,8}e[ \t]{1,8}["']?\/bin\/)/u,
  },
  {
    finding: 'Deletes a directory of the system',
    confidence: 0.75,
    expression:
      /\brm([ \t]+-[A-Za-z-]{1,32}){1,8}[ \t]+["']?\/(bin|boot|dev|etc|home|lib|opt|root|sbin|srv|sys|usr|var)\/?\*?["']?([ \t\n;&|)]|$)/u,
  },
  {
    finding: 'Reads secrets',
    confidence: 0.75,
    expression: /(\.ssh\/id_(rsa|dsa|ecdsa|ed25519)([^.A-Za-z0-9_]|$)|\.aws\/credentials|\.gnupg\/private-keys|\/etc\/shadow)/u,
  },
  {
    finding: 'Runs a script that is encoded',
    confidence: 0.75,
    needs: pipeToShell,
    expression: /\bbase64[ \t]+(-d|-D|--decode)[^\n;|]{0,200}\|[ \t]{0,8}(sudo[ \t]{1,8})?(ba|z|k|da)?sh\b/u,
  },
  { finding: 'Lets everybody write', confidence: 0.6, expression: /\bchmod([ \t]+-[A-Za-z]{1,8}){0,4}[ \t]+0?777[ \t]/u },
  { finding: 'Runs a command as root', confidence: 0.45, expression: /\bsudo[ \t]/u },
]

const defaultThreshold = 0.7
/** How much of a text is looked at. */
const judgedBytes = 1 << 16

/** Finds tool calls that look dangerous, as the settings want it when this is made (GA 18.1, M64). */
export class DangerCheck {
  /** The dangers that are asked about. */
  readonly #dangers: readonly Danger[]
  readonly #logger: Logger

  constructor(settings: Settings, logger: Logger) {
    const threshold = thresholdOf(settings)
    this.#dangers = settings.get('security_prompt_enabled') === true ? dangers.filter(({ confidence }) => confidence >= threshold) : []
    this.#logger = logger
  }

  /** What a person is asked about a call that looks dangerous (M65); undefined for others. */
  promptOf({ name, arguments: args = {} }: ToolCall): string | undefined {
    if (this.#dangers.length === 0) return undefined
    const texts = textsIn(args).map(beginning)
    const danger = this.#dangers.find(({ needs, expression }) => texts.some((text) => (needs?.test(text) ?? true) && expression.test(text)))
    if (danger === undefined) return undefined
    const { finding, confidence } = danger
    this.#logger.warn('tool call looks dangerous', { tool: name, finding })
    return `🔒 Security Alert: this call looks dangerous.\n\nFinding: ${finding}\nConfidence: ${Math.round(confidence * 100)}%`
  }
}

function thresholdOf(settings: Settings): number {
  const set = settings.get('security_prompt_threshold')
  const threshold = typeof set === 'number' || set instanceof JsonNumber ? Number(set) : NaN
  return threshold >= 0 && threshold <= 1 ? threshold : defaultThreshold
}

/** All strings among values, however deep; keys are not looked at. */
function textsIn(value: unknown): string[] {
  const texts: string[] = []
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string') texts.push(one)
    else if (Array.isArray(one) || isObject(one)) for (const member of Object.values(one)) open.push(member)
  }
  return texts
}

function beginning(text: string): string {
  return text.length <= judgedBytes / 3 ? text : Buffer.from(text).subarray(0, judgedBytes).toString()
}
