/* ov-net.h - an IR file as it stands, before it becomes a graph
 *
 * ov-parse.c reads XML into an OvNet and checks the form; ov-build.c makes the
 * graph and checks the meaning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef OV_NET_H
#define OV_NET_H

#include <lpt/lpt-body.h>

/* Numbers of one bit are read as bytes of 0 and 1. */
static inline gboolean
ov_is_bit (const char *type)
{
  return g_ascii_strcasecmp (type, "u1") == 0 || g_ascii_strcasecmp (type, "BIN") == 0;
}

/* The element type that a file calls @type. */
static inline LptDType
ov_dtype (const char *type)
{
  return ov_is_bit (type) ? LPT_DTYPE_U8 : lpt_dtype_from_name (type);
}

typedef struct _OvNet   OvNet;
typedef struct _OvLayer OvLayer;

typedef struct
{
  guint64   id;
  LptDType  dtype;      /* UNDEFINED: not said, or @precision says a type that LptDType lacks */
  char     *precision;  /* as in the file, or NULL */
  LptShape  shape;      /* from <dim>; informative */
  char     *names;      /* tensor names, comma separated, or NULL */
  /* inputs, once edges are resolved */
  OvLayer  *from;
  guint     from_index;
} OvPort;

/* One <input> or <output> of a port map; ids are those of the file. */
typedef struct
{
  gint64      external, internal;
  gboolean    sliced;
  gint64      axis, start, end, stride, part_size;
  LptPortPurpose purpose;
  guint       line;
} OvMapEntry;

typedef struct { guint64 from, to; guint line; } OvBackEdge;

typedef struct
{
  OvNet  *net;
  GArray *inputs, *outputs;   /* of OvMapEntry */
  GArray *back_edges;         /* of OvBackEdge */
} OvBody;

struct _OvLayer
{
  guint64     id;
  guint       line;
  char       *name, *type, *version;
  GPtrArray  *data;           /* name, value, name, value, ... of <data> */
  GArray     *in, *out;       /* of OvPort */
  GHashTable *rt_info;        /* see ov_rt_key(); NULL when there is none */
  char       *raw;            /* XML of a layer that the op table lacks */
  GPtrArray  *bodies;         /* OvBody *, or NULL */
  gboolean    has_edges;      /* inputs resolved */
  /* while building */
  guint8      state;          /* 0 unseen, 1 on the path, 2 done */
  LptNode    *node;
};

typedef struct { guint64 from_layer, from_port, to_layer, to_port; guint line; } OvEdge;

struct _OvNet
{
  char       *name;
  guint       version;
  guint       depth;          /* bodies that it is nested in */
  GPtrArray  *layers;         /* OvLayer *, order of the file */
  GArray     *edges;          /* of OvEdge */
  GHashTable *meta;           /* model-level rt_info: path with / -> value; NULL when there is none */
};

/* Reads XML. Messages begin with "@source:LINE: ". */
OvNet      *ov_net_parse (const char *xml, gsize length, const char *source, GError **error);
void        ov_net_free  (OvNet *net);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (OvNet, ov_net_free)

const char *ov_layer_data (const OvLayer *layer, const char *name);   /* value of an attribute of <data>, or NULL */

/* The row and the opset that a layer's type and version name; NULL without error: the table lacks it (opaque).
 * @relaxed: version="type_relaxed_opset"; the opset is then 0, see ov_relaxed_opset(). */
const LptOpInfo *ov_layer_op (const char *type, const char *version, guint *opset, gboolean *relaxed, GError **error);

/* The newest opset of @info whose required attributes the layer has. */
guint       ov_relaxed_opset (const LptOpInfo *info, const OvLayer *layer);

/* Where constants come from and how messages call the files. */
typedef struct
{
  const char *source;         /* the .xml */
  const char *weights_name;   /* the .bin, or NULL */
  gboolean    mapped;         /* the weights are a mapped file */
  GBytes     *weights;        /* NULL: there are none, because of @no_weights (which may be NULL) */
  const char *no_weights;
} OvFiles;

LptGraph   *ov_net_build (OvNet *net, const OvFiles *files, GError **error);

#endif
