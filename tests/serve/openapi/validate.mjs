// usage: validate.mjs PACKAGES FILE     what is wrong with the document, as JSON; nothing: it is valid
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [packages, file] = process.argv.slice(2);
const from = createRequire(packages + "/package.json");
const { Validator } = await import(pathToFileURL(from.resolve("@seriousme/openapi-schema-validator")));
const result = await new Validator().validate(JSON.parse(readFileSync(file, "utf8")));
console.log(JSON.stringify({ valid: result.valid, errors: result.errors ?? [] }));
