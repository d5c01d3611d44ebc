// A browser and its user, for sign-ins. The server under test starts one of the first three with the address of a page after it;
// each notes the address in the file page. A scenario runs the others, in the same directory.
//
//	keep [status]                       ends with the status
//	facts                               writes what it was started with to the file facts, and follows the redirections
//	late <milliseconds>                 follows the redirections later
//	ask <query> [method=…] [host=…] [path=…]   calls the server back, and prints the answer: CODE and STATE stand for the right ones
//	gone                                waits until the server does not listen any more
//	pages                               prints how many pages were opened
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'

const [mode, ...rest] = process.argv.slice(2)
const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const pages = () => (existsSync(file('page')) ? readFileSync(file('page'), 'utf8').split('\n').slice(0, -1) : [])

async function page() {
  for (let n = 0; n < 100 && pages().length === 0; n++) await sleep(100)
  return new URL(pages().at(-1))
}

function call(address, method, headers) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: address.port, path: address.pathname + address.search, method, headers }, (answer) => {
      let body = ''
      answer.on('data', (chunk) => (body += chunk)).on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body }))
    })
    sent.on('error', reject).end()
  })
}

const demanded = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'",
  connection: 'close',
  'access-control-allow-origin': undefined,
}

async function ask(query, ...options) {
  const opened = await page()
  const own = Object.fromEntries(options.map((option) => option.split(/=(.*)/s)))
  const address = new URL(opened.searchParams.get('redirect_uri'))
  if (query.includes('CODE')) {
    const back = await fetch(opened, { redirect: 'manual' })
    query = query.replace('CODE', new URL(back.headers.get('location')).searchParams.get('code'))
  }
  address.pathname = own.path ?? address.pathname
  address.search = query.replace('STATE', opened.searchParams.get('state'))
  const { status, headers, body } = await call(address, own.method ?? 'GET', { Host: own.host ?? address.host })
  const wrong = Object.keys(demanded).filter((name) => headers[name] !== demanded[name])
  const shown = [...address.searchParams.values()].filter((value) => value !== '' && body.includes(value))
  console.log([status, headers['content-type'], ...(headers.allow ? [`allows ${headers.allow}`] : []), ...wrong.map((name) => `wrong ${name}`), ...shown.map(() => 'shows the request')].join(', '))
}

async function gone() {
  const address = new URL((await page()).searchParams.get('redirect_uri'))
  for (let n = 0; n < 50; n++) {
    try {
      await call(new URL('/', address), 'GET', {})
    } catch {
      return console.log('gone')
    }
    await sleep(100)
  }
  console.log('it listens')
}

const opened = () => appendFileSync(file('page'), `${rest.at(-1)}\n`)

switch (mode) {
  case 'keep':
    opened()
    process.exitCode = rest.length > 1 ? Number(rest[0]) : 0
    break
  case 'facts': {
    const group = Number(readFileSync('/proc/self/stat', 'utf8').replace(/.*\) /s, '').split(' ')[2])
    const input = readFileSync(0).length
    writeFileSync(file('facts'), `secret ${'GOOSE_SERVER__SECRET_KEY' in process.env}, home ${'HOME' in process.env}, group ${group === process.pid}, input ${input}, arguments ${rest.length}\n`)
    opened()
    await (await fetch(rest.at(-1))).text()
    break
  }
  case 'late':
    opened()
    await sleep(Number(rest[0]))
    await (await fetch(rest.at(-1))).text()
    break
  case 'ask':
    await ask(...rest)
    break
  case 'gone':
    await gone()
    break
  case 'pages':
    console.log(pages().length)
}
