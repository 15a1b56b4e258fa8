// Written by `ralph install opencode`; `ralph install opencode --uninstall` takes it out again.
// Tells ralph what happens in a session, and does what ralph answers. It decides nothing by itself.
import { spawn } from "node:child_process"

const RALPH = ["ralph"]
const COMMANDS = ["ralph", "ralph-loop", "cancel-ralph", "ralph-status"]
const OURS = /^\s*\/(?:ralph|ralph-loop|cancel-ralph|ralph-status)(?:\s|$)/
const NOT_IN_RUN =
  "`opencode run` ends with the first answer, so ralph cannot keep a loop going in it. No loop was started. " +
  "Use opencode itself, or `opencode serve` with `opencode run --attach`; or `ralph run --agent opencode`."

// What ralph answers to an event, which goes to its standard input: no shell, no quoting. Null if it cannot be asked.
function ask(event, told) {
  return new Promise((answer) => {
    const [program, ...words] = RALPH
    const child = spawn(program, [...words, "hook", event, "--agent", "opencode"], {
      cwd: told.directory,
      stdio: ["pipe", "pipe", "inherit"],
    })
    let said = ""
    child.stdout.on("data", (data) => (said += data))
    child.on("error", () => answer(null))
    child.stdin.on("error", () => {})
    child.on("close", () => {
      try {
        answer(said.trim() ? JSON.parse(said) : null)
      } catch {
        answer(null)
      }
    })
    child.stdin.end(JSON.stringify(told))
  })
}

export const RalphPlugin = async ({ client, directory }) => {
  const inRun = process.argv.slice(1, 4).includes("run")
  const sent = new Set()
  const busy = new Map()

  const toast = async (body) => {
    if (body) await client.tui.showToast({ body }).catch(() => {})
  }

  // The text in place of what the user typed.
  const instead = async (sessionID, prompt) => {
    if (inRun) {
      console.error(`ralph: ${NOT_IN_RUN}`)
      return `Tell the user only this: ${NOT_IN_RUN}`
    }
    const said = await ask("prompt", { sessionID, directory, prompt })
    if (said?.hookSpecificOutput) {
      await toast({ title: "Ralph Loop", message: said.systemMessage, variant: "info" })
      return said.hookSpecificOutput.additionalContext
    }
    const why = said?.reason ?? said?.systemMessage ?? "ralph could not be called, so nothing was done; `ralph doctor` helps."
    return `Tell the user only this, and do nothing else: ${why}`
  }

  const replaced = async (parts, sessionID, prompt) => {
    const part = parts.find((one) => one.type === "text")
    if (!part) return
    part.text = await instead(sessionID, prompt)
    return part.text
  }

  // What was said since somebody last asked for something, the oldest first; and which answer it ends with, if it has ended.
  const lastTurn = async (sessionID) => {
    const found = await client.session.messages({ path: { id: sessionID }, query: { directory } })
    const all = found.data ?? []
    const asked = all.findLastIndex(({ info }) => info.role === "user")
    const messages = all.slice(asked + 1).map(({ info, parts }) => ({
      role: info.role,
      content: parts.filter((one) => one.type === "text" && !one.synthetic).map((one) => one.text).join("\n"),
    }))
    const last = all.slice(asked + 1).at(-1)?.info
    return { messages, turn: last?.time?.completed && last.finish !== "tool-calls" ? last.id : undefined }
  }

  const idle = async (sessionID) => {
    const said = await ask("idle", { sessionID, directory, ...(await lastTurn(sessionID)) })
    await toast(said?.toast)
    if (said?.action !== "prompt") return
    sent.add(said.prompt)
    await client.session.promptAsync({
      path: { id: sessionID },
      query: { directory },
      body: { parts: [{ type: "text", text: said.prompt }] },
    })
  }

  // One event of a session at a time, in the order they came.
  const inTurn = (sessionID, act) => {
    const next = (busy.get(sessionID) ?? Promise.resolve()).then(act).catch((error) => {
      console.error(`ralph: ${error}`)
    })
    busy.set(sessionID, next)
    next.finally(() => busy.get(sessionID) === next && busy.delete(sessionID))
  }

  return {
    "command.execute.before": async (input, output) => {
      // The arguments come to us alone: in a command's text opencode would run what stands in !`...` there.
      if (!COMMANDS.includes(input.command)) return
      sent.add(await replaced(output.parts, input.sessionID, `/${input.command} ${input.arguments}`))
    },
    "chat.message": async (input, output) => {
      const text = output.parts.filter((one) => one.type === "text").map((one) => one.text).join("\n")
      if (sent.delete(text)) return
      if (OURS.test(text)) await replaced(output.parts, input.sessionID, text)
      else if (!inRun) await ask("prompt", { sessionID: input.sessionID, directory, prompt: text })
    },
    event: async ({ event }) => {
      const told = event.properties ?? {}
      const sessionID = told.sessionID ?? told.info?.id
      if (!sessionID || inRun) return
      if (event.type === "session.idle") inTurn(sessionID, () => idle(sessionID))
      if (event.type === "session.deleted") inTurn(sessionID, () => ask("deleted", { sessionID, directory }))
      if (event.type === "session.error") {
        const { name, data } = told.error ?? {}
        const error = { name, message: data?.message }
        inTurn(sessionID, async () => toast((await ask("error", { sessionID, directory, error }))?.toast))
      }
    },
  }
}
