import { isObject } from '../../wire/json/is-object.ts'
import type { Logger } from '../../log.ts'
import type { ToolCall } from '../../domain/message/result.ts'
import type { Settings } from '../../settings/settings.ts'

/** A pattern that matches dangerous texts. */
interface Threat {
  finding: string
  /** Between 0 and 1. */
  confidence: number
  /** A cheap pre-check: a text that does not match it cannot match the pattern. */
  needs?: RegExp
  expression: RegExp
}

const pipeToShell = /\|[ \t]{0,8}(sudo[ \t]{1,8})?(ba|z|k|da)?sh\b/u
const device = /\/dev\//u

/** The table of docs/behaviour/goose-api.md (M64). The highest confidence comes first, because the first match is reported. */
const threats: readonly Threat[] = [
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
/** How many bytes of a text are inspected. */
const inspectedBytes = 1 << 16

/** Finds tool calls that look dangerous. It reads the settings once, when it is constructed (GA 18.1, M64). */
export class ToolGuard {
  /** The patterns whose confidence reaches the threshold. */
  readonly #threats: readonly Threat[]
  readonly #logger: Logger

  constructor(settings: Settings, logger: Logger) {
    const threshold = settings.fraction('security_prompt_threshold') ?? defaultThreshold
    this.#threats = settings.get('security_prompt_enabled') === true ? threats.filter(({ confidence }) => confidence >= threshold) : []
    this.#logger = logger
  }

  /** The question to a person about a call that looks dangerous; undefined for other calls (M65). */
  promptOf({ name, arguments: args = {} }: ToolCall): string | undefined {
    if (this.#threats.length === 0) return undefined
    const texts = textsIn(args).map(beginning)
    const threat = this.#threats.find(({ needs, expression }) => texts.some((text) => (needs?.test(text) ?? true) && expression.test(text)))
    if (threat === undefined) return undefined
    const { finding, confidence } = threat
    this.#logger.warn('tool call looks dangerous', { tool: name, finding })
    return `🔒 Security Alert: this call looks dangerous.\n\nFinding: ${finding}\nConfidence: ${Math.round(confidence * 100)}%`
  }
}

/** All strings in a value, at any depth. Keys are not included. */
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
  return text.length <= inspectedBytes / 3 ? text : Buffer.from(text).subarray(0, inspectedBytes).toString()
}
