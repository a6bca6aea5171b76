/* bench/kernels/peer-dnnl.c - oneDNN 2.x (Debian's libdnnl-dev) through its C interface
 *
 * Objects live until the program ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/kernels/peer.h"

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

/* oneDNN's OpenMP library, if it uses one: one thread. */
extern void omp_set_num_threads (int n) __attribute__ ((weak));

struct Peer {
  dnnl_primitive_t primitive;
  dnnl_stream_t    stream;
  dnnl_exec_arg_t  args[4];
  int              n_args;
};

static dnnl_engine_t
engine (void)
{
  static dnnl_engine_t e;

  if (!e)
    {
      if (omp_set_num_threads)
        omp_set_num_threads (1);
      if (dnnl_engine_create (&e, dnnl_cpu, 0) != dnnl_success)
        return NULL;
    }
  return e;
}

static dnnl_memory_desc_t
describe (int rank, const dnnl_dim_t *dims, dnnl_data_type_t type, dnnl_format_tag_t tag)
{
  dnnl_memory_desc_t md;
  dnnl_dims_t d;

  memcpy (d, dims, (size_t) rank * sizeof *dims);
  if (dnnl_memory_desc_init_by_tag (&md, rank, d, type, tag) != dnnl_success)
    memset (&md, 0, sizeof md);
  return md;
}

/* Memory of the primitive's own layout for one argument. */
static bool
add_argument (Peer *peer, const_dnnl_primitive_desc_t pd, dnnl_query_t what, int argument)
{
  const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md (pd, what, 0);
  size_t size = md ? dnnl_memory_desc_get_size (md) : 0;
  dnnl_memory_t memory;
  void *data;

  if (!md || dnnl_memory_create (&memory, md, engine (), DNNL_MEMORY_ALLOCATE) != dnnl_success
      || dnnl_memory_get_data_handle (memory, &data) != dnnl_success)
    return false;
  for (size_t i = 0; i < size; i++)
    ((unsigned char *) data)[i] = (unsigned char) (i * 7 % 13);
  peer->args[peer->n_args++] = (dnnl_exec_arg_t) { argument, memory };
  return true;
}

static Peer *
peer_new (const_dnnl_op_desc_t op, dnnl_primitive_attr_t attr)
{
  Peer *peer = calloc (1, sizeof *peer);
  dnnl_primitive_desc_t pd;

  if (!peer || !engine () || dnnl_primitive_desc_create (&pd, op, attr, engine (), NULL) != dnnl_success
      || dnnl_stream_create (&peer->stream, engine (), dnnl_stream_default_flags) != dnnl_success
      || dnnl_primitive_create (&peer->primitive, pd) != dnnl_success
      || !add_argument (peer, pd, dnnl_query_src_md, DNNL_ARG_SRC)
      || !add_argument (peer, pd, dnnl_query_weights_md, DNNL_ARG_WEIGHTS)
      || !add_argument (peer, pd, dnnl_query_dst_md, DNNL_ARG_DST))
    {
      free (peer);
      return NULL;
    }
  return peer;
}

static dnnl_primitive_attr_t
attributes (size_t channels, int mask, bool relu)
{
  dnnl_primitive_attr_t attr;
  dnnl_post_ops_t ops;
  float *scales = malloc (channels * sizeof *scales);

  for (size_t i = 0; scales && i < channels; i++)
    scales[i] = 0.01f;
  if (!scales || dnnl_primitive_attr_create (&attr) != dnnl_success)
    exit (1);
  dnnl_primitive_attr_set_output_scales (attr, (dnnl_dim_t) channels, mask, scales);
  if (relu && dnnl_post_ops_create (&ops) == dnnl_success)
    {
      dnnl_post_ops_append_eltwise (ops, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
      dnnl_primitive_attr_set_post_ops (attr, ops);
    }
  free (scales);
  return attr;
}

Peer *
peer_convolution (const LptConvShape *s)
{
#define D(x) ((dnnl_dim_t) (x))
  dnnl_dim_t src[] = { D (s->batch), D (s->ic), D (s->ih), D (s->iw) },
             dst[] = { D (s->batch), D (s->oc), D (s->oh), D (s->ow) };
  dnnl_dim_t grouped[] = { D (s->groups), D (s->oc / s->groups), D (s->ic / s->groups), D (s->kh), D (s->kw) };
  dnnl_dim_t bias[] = { D (s->oc) };
  dnnl_dims_t strides = { D (s->stride_h), D (s->stride_w) }, pad = { D (s->pad_top), D (s->pad_left) };
  dnnl_memory_desc_t x = describe (4, src, dnnl_u8, dnnl_format_tag_any),
                     y = describe (4, dst, dnnl_u8, dnnl_format_tag_any);
  dnnl_memory_desc_t b = describe (1, bias, dnnl_s32, dnnl_a);
  dnnl_memory_desc_t w = s->groups > 1 ? describe (5, grouped, dnnl_s8, dnnl_format_tag_any)
                                       : describe (4, grouped + 1, dnnl_s8, dnnl_format_tag_any);
  dnnl_convolution_desc_t desc;

  if (dnnl_convolution_forward_desc_init (&desc, dnnl_forward_inference, dnnl_convolution_direct, &x, &w, &b, &y,
                                          strides, pad, pad) != dnnl_success)
    return NULL;

  Peer *peer = peer_new (&desc, attributes (s->oc, 1 << 1, true));
  dnnl_memory_t memory;

  if (peer && dnnl_memory_create (&memory, &b, engine (), DNNL_MEMORY_ALLOCATE) == dnnl_success)
    peer->args[peer->n_args++] = (dnnl_exec_arg_t) { DNNL_ARG_BIAS, memory };
  return peer;
}

Peer *
peer_product (size_t batch, size_t m, size_t k, size_t n, bool batched)
{
  dnnl_dim_t src[] = { D (batch), D (m), D (k) }, weights[] = { D (batch), D (k), D (n) },
             dst[] = { D (batch), D (m), D (n) };
  int skip = batched ? 0 : 1, rank = 3 - skip;
  dnnl_memory_desc_t x = describe (rank, src + skip, dnnl_u8, dnnl_format_tag_any);
  dnnl_memory_desc_t w = describe (rank, weights + skip, dnnl_s8, dnnl_format_tag_any);
  dnnl_memory_desc_t y = describe (rank, dst + skip, dnnl_u8, dnnl_format_tag_any);
  dnnl_matmul_desc_t desc;

  if (dnnl_matmul_desc_init (&desc, &x, &w, NULL, &y) != dnnl_success)
    return NULL;
  return peer_new (&desc, attributes (batched ? 1 : n, batched ? 0 : 1 << 1, false));
#undef D
}

void
peer_run (Peer *peer)
{
  dnnl_primitive_execute (peer->primitive, peer->stream, peer->n_args, peer->args);
  dnnl_stream_wait (peer->stream);
}
