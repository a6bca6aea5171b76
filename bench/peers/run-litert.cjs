// bench/peers/run-litert.cjs - LiteRT 2 on the CPU, as WebAssembly, under Node: node run-litert.cjs PACKAGE
//
// PACKAGE is the folder of npm's @litertjs/core. A line of standard input is a job,
//
//     {"model": FILE, "inputs": [FILE, ...], "out": PREFIX}
//
// whose inputs are raw bytes in the order of the first signature; output k goes to PREFIXk.bin, and a line of standard
// output says {"outputs": [{"type": number, "dims": [...]}]}, or {"error": text} of what LiteRT said.
//
// SPDX-License-Identifier: Apache-2.0
const fs = require('fs'), path = require('path'), readline = require('readline');

const folder = path.join(process.argv[2], 'wasm') + path.sep, name = 'litert_wasm_compat_internal';
let said = [];

const all = v => Array.from({ length: v.size() }, (_, i) => v.get(i));

function load() {
  const module = { exports: {} }, source = fs.readFileSync(folder + name + '.js', 'utf8');
  new Function('module', 'exports', 'require', '__dirname', '__filename', source)(module, module.exports, require, folder, folder + name + '.js');
  const say = s => said.push(s);
  return module.exports({ locateFile: f => folder + f, print: say, printErr: say, wasmBinary: fs.readFileSync(folder + name + '.wasm') });
}

async function run(M, env, job) {
  const data = fs.readFileSync(job.model), at = M._malloc(data.length);
  M.HEAPU8.set(data, at);
  const model = M.loadModel(env, at, data.length), signature = model.getSignature(0);
  const compiled = await M.compileModel(env, model, { accelerator: 'wasm', environment: { liteRtEnvironment: env }, cpuOptions: { numThreads: 1 },
                                                      gpuOptions: {}, webNNOptions: {} });
  const inputs = all(signature.inputNames()).map((_, i) => {
    const type = model.getInputTensorType(0, i), bytes = fs.readFileSync(job.inputs[i]);
    if (bytes.length !== type.bytes()) throw new Error(`input ${i} has ${bytes.length} bytes, not ${type.bytes()}`);
    const buffer = M.LiteRtTensorBuffer.createManaged(env, M.LiteRtTensorBufferType.HOST_MEMORY, type, Math.max(bytes.length, 1));
    M.HEAPU8.set(bytes, buffer.lock(M.LiteRtTensorBufferLockMode.WRITE));
    buffer.unlock();
    return buffer;
  });
  const outputs = (await compiled.run(0, inputs)).map((buffer, k) => {
    const type = buffer.tensorType(), from = buffer.lock(M.LiteRtTensorBufferLockMode.READ);
    fs.writeFileSync(job.out + k + '.bin', Buffer.from(M.HEAPU8.buffer, from, type.bytes()));
    buffer.unlock();
    return { type: type.elementType().value, dims: all(type.layout().dimensions()) };
  });
  for (const o of [...inputs, compiled, model]) o.delete();
  M._free(at);
  return { outputs };
}

(async () => {
  const M = await load();
  M.setupLogging();
  const env = M.LiteRtEnvironment.create(null);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    said = [];
    let answer, ended = false;
    try {
      answer = await run(M, env, JSON.parse(line));
    } catch (e) {
      ended = e instanceof WebAssembly.RuntimeError;
      answer = { error: String(e && e.message || e) };
    }
    const error = said.find(s => /ERROR/.test(s));
    process.stdout.write(JSON.stringify(error && !answer.error ? { error } : answer) + '\n');
    if (ended) process.exit(1);
  }
})();
