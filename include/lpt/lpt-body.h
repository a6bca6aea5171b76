/* lpt-body.h - how TensorIterator, Loop and If connect to their bodies
 *
 * LptNode.bodies: TensorIterator, Loop: one graph; If: then, else.
 * LptNode.body_maps: one LptBodyMap per body.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_BODY_H
#define LPT_BODY_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* What a body uses a port for. */
typedef enum { LPT_PORT_PLAIN, LPT_PORT_ITERATION, LPT_PORT_CONDITION } LptPortPurpose;

/* One connection between the node and a body. Plain data. */
typedef struct
{
  gint     external;     /* input or output of the node; -1 = not connected */
  guint    internal;     /* index in body->parameters or body->results */
  gboolean sliced;       /* cut / joined along @axis */
  gint64   axis, start, end, stride, part_size;
  LptPortPurpose purpose;
  gboolean declared;     /* outputs: the file says more about the shape than inference can; what runs is held to it */
  LptShape shape;        /* of the node's output, where declared */
} LptBodyPort;

/* What a trip leaves in @result is @parameter of the next. Plain data. */
typedef struct { guint result, parameter; } LptBackEdge;

/* How a body hangs together with its node. Belongs to the node: one thread at a time. */
typedef struct
{
  GArray *inputs;       /* of LptBodyPort */
  GArray *outputs;      /* of LptBodyPort */
  GArray *back_edges;   /* of LptBackEdge */
} LptBodyMap;

/* Gives @node its next body; takes @body and @map over. The body's ir_version becomes that of the node's graph. */
LPT_EXPORT void        lpt_node_add_body (LptNode *node, LptGraph *body, LptBodyMap *map);
/* Holds output @o of @node, which is inferred, to @shape, and sets it. FALSE + error: it cannot have that shape. */
LPT_EXPORT gboolean    lpt_node_declare_output (LptNode *node, guint o, const LptShape *shape, GError **error);
LPT_EXPORT LptBodyMap *lpt_body_map_new  (void);
LPT_EXPORT LptBodyMap *lpt_body_map_copy (const LptBodyMap *map);
LPT_EXPORT void        lpt_body_map_free (LptBodyMap *map);
LPT_EXPORT LptBodyMap *lpt_node_body_map (LptNode *node, guint i);
static inline guint lpt_node_n_bodies (const LptNode *node) { return node->bodies != NULL ? node->bodies->len : 0; }
/* Body @i, which belongs to the node. */
static inline LptGraph *lpt_node_body (const LptNode *node, guint i) { return (LptGraph *) g_ptr_array_index (node->bodies, i); }

G_END_DECLS

#endif
