/* bench/peers/run-ort.c - ONNX Runtime: run-ort LIBRARY MODEL THREADS
 *
 * The library is opened at run time. Its interface is one table of functions that only ever grows at the end, so that
 * the places of those needed here stand for the header. All graph optimisations, one inter-op thread; free dimensions
 * are 1; inputs are drawn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers/runner.h"

enum
{
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_OPTIMIZATION_LEVEL = 23,
  SET_INTRA_OP_THREADS = 24,
  SET_INTER_OP_THREADS = 25,
  GET_INPUT_COUNT = 30,
  GET_OUTPUT_COUNT = 31,
  GET_INPUT_TYPE = 33,
  GET_INPUT_NAME = 36,
  GET_OUTPUT_NAME = 37,
  CREATE_TENSOR = 49,
  CAST_TO_TENSOR_INFO = 55,
  GET_ELEMENT_TYPE = 60,
  GET_RANK = 61,
  GET_DIMENSIONS = 62,
  CREATE_CPU_MEMORY_INFO = 69,
  GET_ALLOCATOR = 78,
  RELEASE_VALUE = 96,
};

enum { API_VERSION = 11, LOG_ERROR = 3, OPTIMIZE_ALL = 99, MAX_IO = 64, MAX_RANK = 16 };

typedef struct
{
  void *session, *inputs[MAX_IO];
  char *in_names[MAX_IO], *out_names[MAX_IO];
  size_t n_in, n_out;
} Model;

static void **api;

static void
check (void *status, const char *what)
{
  if (!status)
    return;
  fprintf (stderr, "run-ort: %s: %s\n", what, ((const char *(*) (void *)) api[GET_ERROR_MESSAGE]) (status));
  exit (1);
}

#define CALL(entry, types, ...) check (((void *(*) types) api[entry]) (__VA_ARGS__), #entry)

/* Bytes of an ONNX element type; 0 for those that no input here has. */
static size_t
element_size (int type)
{
  switch (type)
    {
    case 1: case 6: case 12: return 4;
    case 2: case 3: case 9: return 1;
    case 4: case 5: case 10: case 16: return 2;
    case 7: case 11: case 13: return 8;
    default: return 0;
    }
}

static void *
draw_input (Model *model, size_t i, void *memory_info)
{
  void *type_info, *info, *value;
  int64_t dims[MAX_RANK];
  size_t rank, count = 1, size;
  int type;
  char *data;

  CALL (GET_INPUT_TYPE, (void *, size_t, void **), model->session, i, &type_info);
  CALL (CAST_TO_TENSOR_INFO, (void *, void **), type_info, &info);
  CALL (GET_ELEMENT_TYPE, (void *, int *), info, &type);
  CALL (GET_RANK, (void *, size_t *), info, &rank);
  size = element_size (type);
  if (rank > MAX_RANK || size == 0)
    {
      fprintf (stderr, "run-ort: unsupported: input of type %d and rank %zu\n", type, rank);
      exit (1);
    }
  CALL (GET_DIMENSIONS, (void *, int64_t *, size_t), info, dims, rank);
  for (size_t k = 0; k < rank; k++)
    {
      dims[k] = dims[k] < 1 ? 1 : dims[k];
      count *= (size_t) dims[k];
    }
  data = calloc (count, size);
  if (!data)
    exit (1);
  srand (1);
  for (size_t k = 0; k < count; k++)
    if (type == 1)
      ((float *) (void *) data)[k] = (float) rand () / (float) RAND_MAX * 2 - 1;
    else
      data[k * size] = (char) (rand () % 10);
  CALL (CREATE_TENSOR, (void *, void *, size_t, const int64_t *, size_t, int, void **), memory_info, data, count * size,
        dims, rank, type, &value);
  return value;
}

static bool
run (void *data)
{
  Model *model = data;
  void *outputs[MAX_IO] = { NULL };

  CALL (RUN, (void *, void *, char *const *, void *const *, size_t, char *const *, size_t, void **), model->session,
        NULL, model->in_names, model->inputs, model->n_in, model->out_names, model->n_out, outputs);
  for (size_t i = 0; i < model->n_out; i++)
    ((void (*) (void *)) api[RELEASE_VALUE]) (outputs[i]);
  return true;
}

int
main (int argc, char **argv)
{
  Model model = { NULL };
  void *environment, *options, *memory_info, *allocator, *library;
  const void *(*base) (void);
  const char *version;
  RunnerTime start;

  if (argc != 4)
    {
      fprintf (stderr, "usage: run-ort LIBRARY MODEL THREADS\n");
      return 2;
    }
  library = dlopen (argv[1], RTLD_NOW);
  *(void **) &base = library ? dlsym (library, "OrtGetApiBase") : NULL;
  if (!base)
    {
      fprintf (stderr, "run-ort: %s\n", dlerror ());
      return 1;
    }
  /* OrtApiBase: the table of a version, and the name of the library's own. */
  api = ((void **(*) (uint32_t)) ((void *const *) base ())[0]) (API_VERSION);
  version = ((const char *(*) (void)) ((void *const *) base ())[1]) ();

  CALL (CREATE_ENV, (int, const char *, void **), LOG_ERROR, "bench", &environment);
  CALL (CREATE_SESSION_OPTIONS, (void **), &options);
  CALL (SET_OPTIMIZATION_LEVEL, (void *, int), options, OPTIMIZE_ALL);
  CALL (SET_INTRA_OP_THREADS, (void *, int), options, atoi (argv[3]));
  CALL (SET_INTER_OP_THREADS, (void *, int), options, 1);
  start = runner_now ();
  CALL (CREATE_SESSION, (void *, const char *, void *, void **), environment, argv[2], options, &model.session);

  RunnerTime loaded = runner_now ();

  CALL (CREATE_CPU_MEMORY_INFO, (int, int, void **), 0, 0, &memory_info);
  CALL (GET_ALLOCATOR, (void **), &allocator);
  CALL (GET_INPUT_COUNT, (void *, size_t *), model.session, &model.n_in);
  CALL (GET_OUTPUT_COUNT, (void *, size_t *), model.session, &model.n_out);
  if (model.n_in > MAX_IO || model.n_out > MAX_IO)
    return 1;
  for (size_t i = 0; i < model.n_in; i++)
    {
      CALL (GET_INPUT_NAME, (void *, size_t, void *, char **), model.session, i, allocator, &model.in_names[i]);
      model.inputs[i] = draw_input (&model, i, memory_info);
    }
  for (size_t i = 0; i < model.n_out; i++)
    CALL (GET_OUTPUT_NAME, (void *, size_t, void *, char **), model.session, i, allocator, &model.out_names[i]);
  return runner_serve (version, start, loaded, run, &model);
}
