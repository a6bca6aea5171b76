/* test-no-alloc.c - lpt_plan_run () takes no memory after its first run
 *
 * The program's own malloc () and its kin stand before those of the C library, also for GLib and the thread pool, and
 * count while they are told to. g_slice would hide allocations: GLib reads G_SLICE when it is loaded, so the program
 * starts itself again with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

/* gcc says it by a macro, clang by a feature. */
#ifdef __has_feature
#if __has_feature (address_sanitizer) && !defined (__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif

#if defined (__GLIBC__) && !defined (__SANITIZE_ADDRESS__)

static atomic_int  counting;
static atomic_long n_allocations;

void *__libc_malloc (size_t size);
void *__libc_calloc (size_t n, size_t size);
void *__libc_realloc (void *data, size_t size);
void *__libc_memalign (size_t align, size_t size);

static void
count (void)
{
  if (atomic_load_explicit (&counting, memory_order_relaxed))
    atomic_fetch_add (&n_allocations, 1);
}

LPT_EXPORT void *
malloc (size_t size)
{
  count ();
  return __libc_malloc (size);
}

LPT_EXPORT void *
calloc (size_t n, size_t size)
{
  count ();
  return __libc_calloc (n, size);
}

LPT_EXPORT void *
realloc (void *data, size_t size)
{
  count ();
  return __libc_realloc (data, size);
}

LPT_EXPORT void *
aligned_alloc (size_t align, size_t size)
{
  count ();
  return __libc_memalign (align, size);
}

LPT_EXPORT void *
memalign (size_t align, size_t size)
{
  return aligned_alloc (align, size);
}

LPT_EXPORT int
posix_memalign (void **data, size_t align, size_t size)
{
  *data = aligned_alloc (align, size);
  return *data != NULL ? 0 : ENOMEM;
}

/* --- models --- */

/* @most: of a run behind the first. */
static void
check_runs (LptGraph *graph,
            guint     flags,
            guint     threads,
            long      most)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags, &error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, threads, &error) : NULL;
  gboolean ok = TRUE;
  long n;
  guint i;

  g_assert_no_error (error);
  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    {
      g_autoptr (LptTensor) tensor = lpt_tensor_new (lpt_plan_input_dtype (plan, i), lpt_plan_input_shape (plan, i),
                                                     &error);

      g_assert_true (lpt_plan_context_set_input (context, i, tensor, &error));
    }
  g_assert_true (lpt_plan_run (plan, context, &error));

  atomic_store (&n_allocations, 0);
  atomic_store (&counting, 1);
  for (i = 0; i < 3 && ok; i++)
    ok = lpt_plan_run (plan, context, &error);
  atomic_store (&counting, 0);
  n = atomic_load (&n_allocations);

  g_assert_true (ok);
  g_assert_cmpint (n, <=, 3 * most);
}

static void
check (LptGraph *graph,
       guint     flags)
{
  check_runs (graph, flags, 1, 0);
  check_runs (graph, flags, 2, 0);
}

static void
lower (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptConfig) config = lpt_config_new ();

  g_assert_true (lpt_pipeline_run (graph, config, NULL, NULL, &error));
}

static void
test_file (gconstpointer data)
{
  const char *path = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the model is not here");
      return;
    }
  graph = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  lower (graph);
  check (graph, 0);
}

static void
test_text (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (data, -1, "test", &error);

  g_assert_no_error (error);
  check (graph, 0);
  check (graph, LPT_PLAN_REFERENCE);
  lower (graph);
  check (graph, 0);
  check (graph, LPT_PLAN_REFERENCE);
  check (graph, LPT_PLAN_PROFILE);
}

/* The counter counts. */
static void
test_counter (void)
{
  atomic_store (&n_allocations, 0);
  atomic_store (&counting, 1);
  g_free (g_malloc (100));
  g_slice_free1 (100, g_slice_alloc (100));
  g_free (g_strdup ("text"));
  atomic_store (&counting, 0);
  g_assert_cmpint (atomic_load (&n_allocations), ==, 3);
}

#define FQ(name, in, low, high, shape) \
  "%" name "l = Const {" low "} : f32[]\n%" name "h = Const {" high "} : f32[]\n" \
  "%" name " = FakeQuantize(%" in ", %" name "l, %" name "h, %" name "l, %" name "h) {levels=256} : f32[" shape "]\n"

/* A product of two activations, softmax, a second product. */
#define ATTENTION \
  "%x = Parameter : f32[1,2,8,16]\n" FQ ("q", "x", "0", "2.55", "1,2,8,16") \
  "%s = MatMul(%q, %q) {transpose_b=true} : f32[1,2,8,8]\n%p = Softmax(%s) {axis=3} : f32[1,2,8,8]\n" FQ ("r", "p", "0", "1", "1,2,8,8") \
  "%y = MatMul(%r, %q) : f32[1,2,8,16]\nResult(%y)\n"

/* Ops that stay float around one in int8. */
#define FLOATS \
  "%x = Parameter : f32[1,4,6,6]\n%a = Exp(%x) : f32[1,4,6,6]\n" FQ ("b", "a", "0", "2.55", "1,4,6,6") \
  "%k = Const {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1} : f32[4,4,1,1]\n" \
  "%c = Convolution(%b, %k) {pads_begin=[0,0], pads_end=[0,0], strides=[1,1], dilations=[1,1]} : f32[1,4,6,6]\n" \
  "%axes = Const {2, 3} : i64[2]\n%d = ReduceMean(%c, %axes) {keep_dims=true} : f32[1,4,1,1]\n" \
  "%e = Subtract(%c, %d) : f32[1,4,6,6]\n%f = Tanh(%e) : f32[1,4,6,6]\n%g = Concat(%f, %a) {axis=1} : f32[1,8,6,6]\nResult(%g)\n"

/* Slices, a sum that is carried, a constant condition, joined parts and the number of the trip. */
#define LOOP \
  "%x = Parameter : f32[2,6,3]\n%s = Parameter : f32[2,3]\n%m = Const {6} : i64[]\n%c = Const {true} : boolean[]\n" \
  "%l = Loop(%m, %c, %x, %s) : f32[2,6,3], f32[2,3] {\n  body {\n    in _ -> 0 iteration\n    in 2 -> 1 axis=1\n" \
  "    in 3 -> 2\n" \
  "    out _ <- 0 condition\n    out 0 <- 1 axis=1\n    out 1 <- 2\n    back 2 -> 2\n" \
  "    %i = Parameter : i64[]\n    %a = Parameter : f32[2,1,3]\n    %b = Parameter : f32[2,3]\n" \
  "    %f = Convert(%i) {destination_type=f32} : f32[]\n    %g = Multiply(%a, %f) : f32[2,1,3]\n" \
  "    %n = Const {1} : i64[1]\n    %h = Squeeze(%g, %n) : f32[2,3]\n    %d = Add(%b, %h) : f32[2,3]\n" \
  "    %e = Unsqueeze(%d, %n) : f32[2,1,3]\n" \
  "    %t = Const {true} : boolean[]\n    Result(%t)\n    Result(%e)\n    Result(%d)\n  }\n}\nResult(%l)\nResult(%l.1)\n"

/* The plain ops' loops take memory. */
static void
test_loop (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (LOOP, -1, "loop", &error);

  g_assert_no_error (error);
  check (graph, 0);
}

/* Six ops whose shapes depend on data: results, the values that shapes follow from and the lists that they are read
 * into, but no graphs of a node, which take more than all of that. */
static void
test_waiting (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (
    "%x = Parameter : f32[40]\n%e = Exp(%x) : f32[40]\n%first = Const {0} : i64[1]\n%axis = Const {0} : i64[]\n"
    "%n = NonZero(%e) : i64[1,?]\n%rows = Squeeze@1(%n, %first) : i64[?]\n%g = Gather(%x, %rows, %axis) : f32[?]\n"
    "%m = Multiply(%g, %g) : f32[?]\n%a = Abs(%m) : f32[?]\n%y = Add(%a, %g) : f32[?]\nResult(%y)\n",
    -1, "waiting", &error);

  g_assert_no_error (error);
  check_runs (graph, 0, 1, 40);
}

int
main (int argc, char **argv)
{
  if (g_getenv ("G_SLICE") == NULL)
    {
      g_setenv ("G_SLICE", "always-malloc", TRUE);
      execv ("/proc/self/exe", argv);
    }
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/no-alloc/counter", test_counter);
  g_test_add_data_func ("/no-alloc/attention", ATTENTION, test_text);
  g_test_add_data_func ("/no-alloc/floats", FLOATS, test_text);
  g_test_add_func ("/no-alloc/loop", test_loop);
  g_test_add_func ("/no-alloc/waiting", test_waiting);
  g_test_add_data_func ("/no-alloc/digits", LPT_SOURCE_DIR "/models/digits.xml", test_file);
  g_test_add_data_func ("/no-alloc/mobilenetv2", LPT_SHARED_DIR "/models/synthetic/mobilenetv2_025/ir_u8.xml",
                        test_file);
  g_test_add_data_func ("/no-alloc/resnet50", LPT_SHARED_DIR "/models/synthetic/resnet50_w8/ir_i8.xml", test_file);
  g_test_add_data_func ("/no-alloc/bert", LPT_SHARED_DIR "/models/synthetic/bert2_tiny/ir_u8.xml", test_file);
  g_test_add_data_func ("/no-alloc/head-pose",
                        LPT_SHARED_DIR
                        "/models/ir-head-pose-estimation-adas-0001/FP16-INT8/head-pose-estimation-adas-0001.xml",
                        test_file);

  return g_test_run ();
}

#else

int
main (int argc, char **argv)
{
  g_print ("1..0 # SKIP the allocator cannot be replaced here\n");

  return 0;
}

#endif
