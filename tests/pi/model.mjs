// A stand-in for a model: the OpenAI chat protocol, streamed, on loopback. `script` holds the answers to come, in order: a text, or
// {name: arguments} for calls of tools. When it is empty the answer is "ok". `requests` has every request as it came.
import { createServer } from "node:http";

export async function startModel() {
	const model = { script: [], requests: [], waiting: [] };
	const server = createServer(async (request, response) => {
		let text = "";
		for await (const part of request.setEncoding("utf8")) text += part;
		const body = JSON.parse(text);
		const answer = model.script.shift() ?? "ok";
		model.requests.push(body);
		for (const wake of model.waiting.splice(0)) wake();
		const calls =
			typeof answer === "string"
				? undefined
				: Object.entries(answer).map(([name, args], index) => ({
						index,
						id: `call_${model.requests.length}_${index}`,
						type: "function",
						function: { name, arguments: JSON.stringify(args) },
					}));
		const delta = calls ? { role: "assistant", tool_calls: calls } : { role: "assistant", content: answer };
		const chunk = (choice) => ({ id: "c1", object: "chat.completion.chunk", created: 1, model: body.model, choices: [{ index: 0, ...choice }] });
		response.writeHead(200, { "content-type": "text/event-stream" });
		for (const part of [chunk({ delta }), chunk({ delta: {}, finish_reason: calls ? "tool_calls" : "stop" })])
			response.write(`data: ${JSON.stringify(part)}\n\n`);
		response.end("data: [DONE]\n\n");
	});
	await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
	model.port = server.address().port;
	model.close = () => server.close();
	model.more = () => new Promise((wake) => model.waiting.push(wake));
	return model;
}

const textOf = (content) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join(""));
// What the model sees of a request: its messages of one role as texts, and the names of its tools.
export const texts = (request, role) => request.messages.filter((m) => m.role === role).map((m) => textOf(m.content));
export const toolNames = (request) => (request.tools ?? []).map((t) => t.function.name);
