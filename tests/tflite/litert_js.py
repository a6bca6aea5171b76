"""LiteRT 2's WebAssembly build as a peer: $LITERT_JS is the folder of npm's @litertjs/core, run by Node (bench/peers/run-litert.cjs).

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import tempfile

import numpy as np

from peer import CODES

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/peers/run-litert.cjs")


class LiteRt:
    def __init__(self):
        self.folder, self.tmp, self.process = os.environ.get("LITERT_JS"), tempfile.TemporaryDirectory(), None

    def is_there(self):
        return bool(self.folder) and os.path.exists(self.folder)

    def ask(self, job):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(["node", SCRIPT, self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "it ended"}

    def run(self, data, arrays):
        """Arrays, or the text of an error."""
        files = [os.path.join(self.tmp.name, "%d" % k) for k in range(len(arrays) + 1)]
        for path, content in zip(files, [data] + [np.ascontiguousarray(a).tobytes() for a in arrays]):
            with open(path, "wb") as f:
                f.write(content)
        answer = self.ask({"model": files[0], "inputs": files[1:], "out": self.tmp.name + "/y"})
        if "error" in answer:
            return answer["error"]
        return [np.fromfile("%s/y%d.bin" % (self.tmp.name, k), CODES[o["type"]]).reshape(o["dims"]) for k, o in enumerate(answer["outputs"])]

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
