/* bench/peers/run-tflite.c - TensorFlow Lite with XNNPACK: run-tflite LIBRARY MODEL THREADS [--kernels]
 *
 * The library is opened at run time; what is needed of its C interface is declared here. XNNPACK also takes signed and
 * unsigned quantized operators, which its defaults leave out. --kernels: without XNNPACK, on the default kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers/runner.h"

enum { XNNPACK_QS8 = 1, XNNPACK_QU8 = 2 };

typedef struct
{
  int32_t  n_threads;
  uint32_t flags;
  char     later[256];     /* fields of later versions: zero */
} XnnpackOptions;

#define ENTRIES(X)                                                       \
  X (const char *, Version, (void))                                      \
  X (void *, ModelCreateFromFile, (const char *))                        \
  X (void *, InterpreterOptionsCreate, (void))                           \
  X (void, InterpreterOptionsSetNumThreads, (void *, int32_t))           \
  X (void, InterpreterOptionsAddDelegate, (void *, void *))              \
  X (void *, InterpreterCreate, (void *, void *))                        \
  X (int, InterpreterAllocateTensors, (void *))                          \
  X (int, InterpreterInvoke, (void *))                                   \
  X (int32_t, InterpreterGetInputTensorCount, (void *))                  \
  X (void *, InterpreterGetInputTensor, (void *, int32_t))               \
  X (size_t, TensorByteSize, (void *))                                   \
  X (void *, TensorData, (void *))                                       \
  X (void *, XNNPackDelegateCreate, (const XnnpackOptions *))

#define DECLARE(type, name, types) static type (*name) types;
ENTRIES (DECLARE)

static bool
find_entries (const char *path)
{
  void *library = dlopen (path, RTLD_NOW);

  if (!library)
    return false;
#define FIND(type, name, types) if (!(*(void **) &name = dlsym (library, "TfLite" #name))) return false;
  ENTRIES (FIND)
  return true;
}

static bool
run (void *data)
{
  if (InterpreterInvoke (data) == 0)
    return true;
  fprintf (stderr, "run-tflite: the run failed\n");
  return false;
}

/* NULL: it cannot be loaded. */
static void *
load (const char *path, int n_threads, bool kernels)
{
  XnnpackOptions xnnpack = { .n_threads = n_threads, .flags = XNNPACK_QS8 | XNNPACK_QU8 };
  void *model = ModelCreateFromFile (path), *options = InterpreterOptionsCreate ();
  void *delegate = kernels ? NULL : XNNPackDelegateCreate (&xnnpack);

  if (!model || (!delegate && !kernels))
    return NULL;
  InterpreterOptionsSetNumThreads (options, n_threads);
  if (delegate)
    InterpreterOptionsAddDelegate (options, delegate);
  return InterpreterCreate (model, options);
}

int
main (int argc, char **argv)
{
  const bool kernels = argc == 5 && strcmp (argv[4], "--kernels") == 0;
  void *interpreter;
  RunnerTime start, ready;

  if (argc != 4 && !kernels)
    {
      fprintf (stderr, "usage: run-tflite LIBRARY MODEL THREADS [--kernels]\n");
      return 2;
    }
  if (!find_entries (argv[1]))
    {
      fprintf (stderr, "run-tflite: %s\n", dlerror ());
      return 1;
    }
  start = runner_now ();
  interpreter = load (argv[2], atoi (argv[3]), kernels);
  if (!interpreter || InterpreterAllocateTensors (interpreter) != 0)
    {
      fprintf (stderr, "run-tflite: %s cannot be loaded\n", argv[2]);
      return 1;
    }
  ready = runner_now ();
  for (int32_t i = 0; i < InterpreterGetInputTensorCount (interpreter); i++)
    {
      void *tensor = InterpreterGetInputTensor (interpreter, i);
      unsigned char *data = TensorData (tensor);

      for (size_t k = 0; k < TensorByteSize (tensor); k++)
        data[k] = (unsigned char) (k * 7 % 100);
    }
  return runner_serve (Version (), start, ready, run, interpreter);
}
