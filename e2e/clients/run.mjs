// Runs every library through the whole flow and two failing ones, and runs the
// generated clients. The script "run" in this directory starts Formulary and passes its
// URL, the user and the application in environment variables.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { signIn } from './person.mjs'

const libraries = {
  'simple-oauth2': './simple-oauth2.mjs',
  'openid-client': './openid-client.mjs',
  'passport-oauth2': './passport-oauth2.mjs',
  grant: './grant.mjs',
  'client-oauth2': './client-oauth2.mjs',
  '@badgateway/oauth2-client': './badgateway-oauth2-client.mjs',
  arctic: './arctic.mjs',
}
// Compiled by the script "run".
const generated = {
  'Go client, oapi-codegen': ['./go/list'],
  'TypeScript client, openapi-fetch': [process.execPath, './ts/list.js'],
}
const scopes = ['forms:read', 'responses:read']
const title = 'Seen by every library'
const secondsEach = 20

const { CLIENTS_BASE: base, CLIENTS_EMAIL: email, CLIENTS_PASSWORD: password } = process.env
const registered = JSON.parse(process.env.CLIENTS_APP)
const app = {
  client_id: registered.client_id,
  client_secret: registered.client_secret,
  redirect_uri: registered.redirect_uris[0],
}

const consent = await signIn(base, email, password)
await makeForm()

let failed = 0
for (const [name, file] of Object.entries(libraries)) {
  const line = `${name} ${await version(name)}`.padEnd(34)
  try {
    const note = await bounded(check(await import(file)))
    console.log(`${line} ok${note ? ` (${note})` : ''}`)
  } catch (error) {
    failed++
    console.log(`${line} FAILED: ${error.message}`)
    if (error.cause) console.log(error.cause)
  }
}
const token = await accessToken('forms:read')
for (const [name, command] of Object.entries(generated)) {
  try {
    await listsForms(command)
    console.log(`${name.padEnd(34)} ok`)
  } catch (error) {
    failed++
    console.log(`${name.padEnd(34)} FAILED: ${error.message}`)
  }
}
const count = Object.keys(libraries).length + Object.keys(generated).length
console.log(`${count - failed} passed, ${failed} failed`)
// Libraries may leave timers or connections open, so exit explicitly.
process.exit(failed ? 1 : 0)

async function check({ default: flow, reason, note }) {
  const { access, refreshed, get } = await flow({ base, app, scopes, consent })
  if (!refreshed || refreshed === access) throw new Error('the refresh gave no new access token')
  for (const token of [access, refreshed]) {
    await listed(fetch(`${base}/api/v1/forms`, { headers: { authorization: `Bearer ${token}` } }))
  }
  // Some libraries also send the request.
  if (get) await listed(get(`${base}/api/v1/forms`))

  await fails('invalid_grant', reason, flow({ base, app, scopes, consent: withWrongCode }))
  await fails('invalid_client', reason, flow({ base, app: { ...app, client_secret: 'fms_wrong' }, scopes, consent }))
  return note
}

async function listed(call) {
  const answer = await call
  const body = await answer.json()
  if (answer.status !== 200 || body.total_items !== 1 || body.data[0].title !== title) {
    throw new Error(`the list of forms is ${answer.status} ${JSON.stringify(body)}`)
  }
}

// fails checks that the library's own error contains the reason that the server sent.
async function fails(want, reason, flow) {
  let error
  await flow.catch((caught) => { error = caught })
  if (!error) throw new Error(`no error where ${want} was due`)
  if (reason(error) !== want) throw new Error(`its error does not say ${want}`, { cause: error })
}

async function withWrongCode(authorizationUrl) {
  const back = new URL(await consent(authorizationUrl))
  back.searchParams.set('code', 'fmc_wrong')
  return back.href
}

async function listsForms(command) {
  const [file, ...args] = command.map((part) => part.startsWith('./') ? fileURLToPath(new URL(part, import.meta.url)) : part)
  const env = { ...process.env, CLIENTS_TOKEN: token }
  const { stdout } = await promisify(execFile)(file, args, { env, timeout: secondsEach * 1000 })
  if (stdout.trim() !== title) throw new Error(`it lists ${JSON.stringify(stdout)}`)
}

// accessToken runs the flow without a library, so that its failures cannot come from
// one.
async function accessToken(scope) {
  const { client_id, client_secret, redirect_uri } = app
  const ask = new URLSearchParams({ response_type: 'code', client_id, redirect_uri, scope })
  const code = new URL(await consent(`${base}/authorize?${ask}`)).searchParams.get('code')
  const exchange = await fetch(`${base}/api/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'authorization_code', code, client_id, client_secret, redirect_uri }),
  })
  const { access_token } = await exchange.json()
  return access_token
}

// makeForm creates the form that the lists show.
async function makeForm() {
  const res = await fetch(`${base}/api/v1/forms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await accessToken('forms:write')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title }),
  })
  if (res.status !== 201) throw new Error(`the form was answered ${res.status} ${await res.text()}`)
}

async function version(name) {
  return JSON.parse(await readFile(new URL(`node_modules/${name}/package.json`, import.meta.url))).version
}

function bounded(work) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${secondsEach} s`)), secondsEach * 1000)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
