// Does with V8 what the command lines of other runtimes do: runs a WASI command (FILE), or calls a function with a
// number and prints what it gives (FILE FUNCTION NUMBER).
'use strict';
const { readFileSync } = require('node:fs');

const [file, name, number] = process.argv.slice(2);
const module_ = new WebAssembly.Module(readFileSync(file));
if (name === undefined) {
  const { WASI } = require('node:wasi');
  const wasi = new WASI({ version: 'preview1' });
  process.exitCode = wasi.start(new WebAssembly.Instance(module_, wasi.getImportObject()));
} else {
  const { exports: functions } = new WebAssembly.Instance(module_);
  console.log(functions[name](Number(number)));
}
