// Lists the titles of an account's forms with types that openapi-typescript
// generates from the OpenAPI document.
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

const base: string = process.env['CLIENTS_BASE'] ?? ''
const token: string = process.env['CLIENTS_TOKEN'] ?? ''

const client = createClient<paths>({ baseUrl: base, headers: { authorization: `Bearer ${token}` } })
const { data, error } = await client.GET('/api/v1/forms', { params: { query: { per_page: 50 } } })
if (!data) {
  const refused: components['schemas']['Error'] = error
  throw new Error(`${refused.errorCode} ${refused.message}`)
}
for (const form of data.data) console.log(form.title)
