/* lpt-op.h - the ops and what is known of each
 *
 * The table has a row per operation, in ir/lpt-ops.def of the sources. A plugin adds ops of its own with an
 * LptOpInfo of its own (op = LPT_OP_CUSTOM).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_OP_H
#define LPT_OP_H

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

typedef struct _LptNode   LptNode;
typedef struct _LptGraph  LptGraph;
typedef struct _LptOpInfo LptOpInfo;
typedef struct _LptTensor LptTensor;     /* lpt-tensor.h */

/* The ops and their numbers. A number stays that op's: a new op takes the next one, at the end, whatever its place
 * in ir/lpt-ops.def. A library that is newer than this header has ops from its LPT_N_OPS on. Files hold names. */
typedef enum
{
  LPT_OP_NONE,
  LPT_OP_OPAQUE,      /* unknown to the table: kept as it was read, passes through */
  LPT_OP_CUSTOM,      /* a plugin's own op: see LptNode.info */
  LPT_OP_PARAMETER,
  LPT_OP_RESULT,
  LPT_OP_CONST,
  LPT_OP_READ_VALUE,
  LPT_OP_ASSIGN,
  LPT_OP_CONVERT,
  LPT_OP_CONVERT_LIKE,
  LPT_OP_IDENTITY,
  LPT_OP_FAKE_QUANTIZE,
  LPT_OP_DYNAMIC_FAKE_QUANTIZE,
  LPT_OP_DYNAMIC_QUANTIZE,
  LPT_OP_DYNAMIC_REST,
  LPT_OP_FAKE_CONVERT,
  LPT_OP_ADD,
  LPT_OP_SUBTRACT,
  LPT_OP_MULTIPLY,
  LPT_OP_DIVIDE,
  LPT_OP_POWER,
  LPT_OP_MAXIMUM,
  LPT_OP_MINIMUM,
  LPT_OP_MOD,
  LPT_OP_FLOOR_MOD,
  LPT_OP_SQUARED_DIFFERENCE,
  LPT_OP_PRELU,
  LPT_OP_SELECT,
  LPT_OP_EQUAL,
  LPT_OP_NOT_EQUAL,
  LPT_OP_LESS,
  LPT_OP_LESS_EQUAL,
  LPT_OP_GREATER,
  LPT_OP_GREATER_EQUAL,
  LPT_OP_LOGICAL_AND,
  LPT_OP_LOGICAL_OR,
  LPT_OP_LOGICAL_XOR,
  LPT_OP_LOGICAL_NOT,
  LPT_OP_BITWISE_AND,
  LPT_OP_BITWISE_OR,
  LPT_OP_BITWISE_XOR,
  LPT_OP_BITWISE_NOT,
  LPT_OP_BITWISE_LEFT_SHIFT,
  LPT_OP_BITWISE_RIGHT_SHIFT,
  LPT_OP_ABS,
  LPT_OP_ACOS,
  LPT_OP_ACOSH,
  LPT_OP_ASIN,
  LPT_OP_ASINH,
  LPT_OP_ATAN,
  LPT_OP_ATANH,
  LPT_OP_CEILING,
  LPT_OP_CLAMP,
  LPT_OP_COS,
  LPT_OP_COSH,
  LPT_OP_ELU,
  LPT_OP_ERF,
  LPT_OP_EXP,
  LPT_OP_FLOOR,
  LPT_OP_GELU,
  LPT_OP_HARD_SIGMOID,
  LPT_OP_HSIGMOID,
  LPT_OP_HSWISH,
  LPT_OP_IS_FINITE,
  LPT_OP_IS_INF,
  LPT_OP_IS_NAN,
  LPT_OP_LOG,
  LPT_OP_MISH,
  LPT_OP_NEGATIVE,
  LPT_OP_RELU,
  LPT_OP_ROUND,
  LPT_OP_RSQRT,
  LPT_OP_SELU,
  LPT_OP_SIGMOID,
  LPT_OP_SIGN,
  LPT_OP_SIN,
  LPT_OP_SINH,
  LPT_OP_SOFT_PLUS,
  LPT_OP_SOFT_SIGN,
  LPT_OP_SQRT,
  LPT_OP_SWISH,
  LPT_OP_TAN,
  LPT_OP_TANH,
  LPT_OP_CONVOLUTION,
  LPT_OP_GROUP_CONVOLUTION,
  LPT_OP_CONVOLUTION_BACKPROP_DATA,
  LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA,
  LPT_OP_DEFORMABLE_CONVOLUTION,
  LPT_OP_BINARY_CONVOLUTION,
  LPT_OP_MATMUL,
  LPT_OP_SCALED_DOT_PRODUCT_ATTENTION,
  LPT_OP_EINSUM,
  LPT_OP_MAX_POOL,
  LPT_OP_AVG_POOL,
  LPT_OP_ADAPTIVE_AVG_POOL,
  LPT_OP_ADAPTIVE_MAX_POOL,
  LPT_OP_REDUCE_MAX,
  LPT_OP_REDUCE_MIN,
  LPT_OP_REDUCE_MEAN,
  LPT_OP_REDUCE_SUM,
  LPT_OP_REDUCE_PROD,
  LPT_OP_REDUCE_L1,
  LPT_OP_REDUCE_L2,
  LPT_OP_REDUCE_LOGICAL_AND,
  LPT_OP_REDUCE_LOGICAL_OR,
  LPT_OP_ARG_MAX,
  LPT_OP_ARG_MIN,
  LPT_OP_CUM_SUM,
  LPT_OP_BATCH_NORM_INFERENCE,
  LPT_OP_LRN,
  LPT_OP_MVN,
  LPT_OP_NORMALIZE_L2,
  LPT_OP_GROUP_NORMALIZATION,
  LPT_OP_GRN,
  LPT_OP_SOFTMAX,
  LPT_OP_LOG_SOFTMAX,
  LPT_OP_RESHAPE,
  LPT_OP_SQUEEZE,
  LPT_OP_UNSQUEEZE,
  LPT_OP_TRANSPOSE,
  LPT_OP_CONCAT,
  LPT_OP_SPLIT,
  LPT_OP_VARIADIC_SPLIT,
  LPT_OP_STRIDED_SLICE,
  LPT_OP_SLICE,
  LPT_OP_GATHER,
  LPT_OP_GATHER_ELEMENTS,
  LPT_OP_GATHER_ND,
  LPT_OP_GATHER_TREE,
  LPT_OP_BROADCAST,
  LPT_OP_TILE,
  LPT_OP_PAD,
  LPT_OP_SHAPE_OF,
  LPT_OP_SHUFFLE_CHANNELS,
  LPT_OP_DEPTH_TO_SPACE,
  LPT_OP_SPACE_TO_DEPTH,
  LPT_OP_BATCH_TO_SPACE,
  LPT_OP_SPACE_TO_BATCH,
  LPT_OP_REVERSE,
  LPT_OP_REVERSE_SEQUENCE,
  LPT_OP_ROLL,
  LPT_OP_SCATTER_UPDATE,
  LPT_OP_SCATTER_ELEMENTS_UPDATE,
  LPT_OP_SCATTER_ND_UPDATE,
  LPT_OP_SLICE_SCATTER,
  LPT_OP_NON_ZERO,
  LPT_OP_RANGE,
  LPT_OP_ONE_HOT,
  LPT_OP_EYE,
  LPT_OP_TOP_K,
  LPT_OP_BUCKETIZE,
  LPT_OP_EXTRACT_IMAGE_PATCHES,
  LPT_OP_GRID_SAMPLE,
  LPT_OP_SEARCH_SORTED,
  LPT_OP_UNIQUE,
  LPT_OP_SPARSE_FILL_EMPTY_ROWS,
  LPT_OP_INVERSE,
  LPT_OP_COL2IM,
  LPT_OP_SEGMENT_MAX,
  LPT_OP_EMBEDDING_BAG_OFFSETS,
  LPT_OP_EMBEDDING_BAG_PACKED,
  LPT_OP_EMBEDDING_BAG_OFFSETS_SUM,
  LPT_OP_EMBEDDING_BAG_PACKED_SUM,
  LPT_OP_EMBEDDING_SEGMENTS_SUM,
  LPT_OP_RANDOM_UNIFORM,
  LPT_OP_NV12_TO_RGB,
  LPT_OP_NV12_TO_BGR,
  LPT_OP_I420_TO_RGB,
  LPT_OP_I420_TO_BGR,
  LPT_OP_INTERPOLATE,
  LPT_OP_DFT,
  LPT_OP_IDFT,
  LPT_OP_RDFT,
  LPT_OP_IRDFT,
  LPT_OP_STFT,
  LPT_OP_ISTFT,
  LPT_OP_LSTM_CELL,
  LPT_OP_GRU_CELL,
  LPT_OP_RNN_CELL,
  LPT_OP_LSTM_SEQUENCE,
  LPT_OP_GRU_SEQUENCE,
  LPT_OP_RNN_SEQUENCE,
  LPT_OP_LITE_LSTM_CELL,
  LPT_OP_LITE_LSTM_CELL8,
  LPT_OP_LITE_SVDF,
  LPT_OP_LINEAR_ATTENTION,
  LPT_OP_TENSOR_ITERATOR,
  LPT_OP_LOOP,
  LPT_OP_IF,
  LPT_OP_PRIOR_BOX,
  LPT_OP_PRIOR_BOX_CLUSTERED,
  LPT_OP_DETECTION_OUTPUT,
  LPT_OP_DETECTION_POST_PROCESS,
  LPT_OP_NON_MAX_SUPPRESSION,
  LPT_OP_PROPOSAL,
  LPT_OP_ROI_POOLING,
  LPT_OP_ROI_ALIGN,
  LPT_OP_PSROI_POOLING,
  LPT_OP_ROI_ALIGN_ROTATED,
  LPT_OP_DEFORMABLE_PSROI_POOLING,
  LPT_OP_MULTICLASS_NMS,
  LPT_OP_MATRIX_NMS,
  LPT_OP_NMS_ROTATED,
  LPT_OP_GENERATE_PROPOSALS,
  LPT_OP_DETECTRON_PRIORS,
  LPT_OP_DETECTRON_PROPOSALS,
  LPT_OP_DETECTRON_TOP,
  LPT_OP_DETECTRON_FEATURES,
  LPT_OP_DETECTRON_DETECTIONS,
  LPT_OP_REGION_YOLO,
  LPT_OP_REORG_YOLO,
  LPT_OP_CTC_LOSS,
  LPT_OP_CTC_GREEDY_DECODER,
  LPT_OP_CTC_GREEDY_DECODER_SEQ_LEN,
  LPT_OP_TREE_ENSEMBLE,
  LPT_OP_PAIR_COUPLING,
  LPT_OP_QUANTIZE,
  LPT_OP_DEQUANTIZE,
  LPT_OP_REQUANTIZE,
  LPT_OP_REINTERPRET,
  LPT_OP_BLOCK_MATMUL,
  LPT_OP_TABLE,
  LPT_N_OPS
} LptOp;

#define LPT_OP_FIRST (LPT_OP_CUSTOM + 1)     /* of the table; LPT_N_OPS - 1 is the last */

/* Traits: what an op is, as mathematics and as structure. Code asks for them, and names an op only where the matter
 * concerns that one (tests/house/test-op-lists.py). */
typedef enum
{
  LPT_OP_F_NONE        = 0,
  LPT_OP_F_ELEMENTWISE = 1 << 0,   /* output element i depends on input elements i only (with broadcasting) */
  LPT_OP_F_COMMUTES    = 1 << 1,   /* op (a, b) = op (b, a) */
  LPT_OP_F_PRESERVES   = 1 << 2,   /* moves or selects values */
  LPT_OP_F_MONOTONE    = 1 << 3,   /* commutes with every non-decreasing map of the elements */
  LPT_OP_F_SINK        = 1 << 4,   /* kept without users: Result, Assign */
  LPT_OP_F_COMPUTE     = 1 << 5,   /* does arithmetic on data: counted by --stats, reported by explain */
  LPT_OP_F_TERM        = 1 << 6,   /* a + b, a - b */
  LPT_OP_F_FACTOR      = 1 << 7,   /* a * b, a / b */
  LPT_OP_F_UNARY       = 1 << 8,   /* elementwise function of one input: lowered to a table */
  LPT_OP_F_LOWERED     = 1 << 9,   /* exists in lowered graphs only (Quantize, Table, ...) */
  LPT_OP_F_SHAPE       = 1 << 10,  /* reads the shape of its input only (ShapeOf) */
  LPT_OP_F_RANDOM      = 1 << 11,  /* result is not a function of the inputs alone */
  LPT_OP_F_COUNTS      = 1 << 12,  /* makes numbers of its own, places or lengths: no quantization can be theirs */
  LPT_OP_F_WEIGHTED    = 1 << 13,  /* sums products of input 0 with weights, input 1; lowered: its bias may have a remainder */
  LPT_OP_F_TRANSPOSED  = 1 << 14,  /* WEIGHTED, its result being what a convolution would read */
  LPT_OP_F_GROUPED     = 1 << 15,  /* WEIGHTED, the first axis of the weights being groups of channels */
  LPT_OP_F_RECURRENT   = 1 << 16,  /* cell of a recurrent network, with weights of the data and of the state */
  LPT_OP_F_SEQUENCE    = 1 << 17,  /* RECURRENT, all steps of an axis at once */
  LPT_OP_F_BODY        = 1 << 18,  /* runs a body, If two: lpt_op_n_bodies() */
  LPT_OP_F_STATE       = 1 << 19,  /* reads or stores what is kept from run to run */
  LPT_OP_F_IMPLIED     = 1 << 20,  /* attributes that are types and shapes are those of the output: not written as text */
  LPT_OP_F_BITS        = 1 << 21,  /* works on the bits of integers */
  LPT_OP_F_SHIFTED     = 1 << 22,  /* lowered: a real constant is added before the rounding (LptBinaryAttrs.shift) */
  LPT_OP_F_DIVISOR     = 1 << 23,  /* divides by input 1, which among integers may not be 0 */
  LPT_OP_F_QUANTIZES   = 1 << 24,  /* real numbers become codes or codes real numbers or other codes: but for rounding the same */
  LPT_OP_F_STRINGS     = 1 << 25,  /* elements are compared or chosen only: they may be strings */
  LPT_OP_F_HOMOGENEOUS = 1 << 26,  /* f (c x) = c f (x) with c > 0, one for each channel */
  LPT_OP_F_SPATIAL     = 1 << 27,  /* moves or joins elements along the spatial axes */
  LPT_OP_F_STANDARDIZES = 1 << 28, /* subtracts a mean of its input and divides by the deviation from it */
  LPT_OP_F_WHOLE       = 1 << 29,  /* gives whole numbers: beside its input by less than one, or within -1 .. 1 */
  LPT_OP_F_UNSIGNED    = 1 << 30,  /* gives no number below 0 */
} LptOpFlags;

/* With one operand constant an affine map of the other. */
#define LPT_OP_F_AFFINE (LPT_OP_F_TERM | LPT_OP_F_FACTOR)

/* What OpenVINO's runtime does with an op; facts of its table, no traits. */
typedef enum
{
  LPT_OPENVINO_RELAXED = 1 << 0,   /* its types may be relaxed */
  LPT_OPENVINO_LPT     = 1 << 1,   /* supported by MarkupPrecisions */
  LPT_OPENVINO_BOXES   = 1 << 2,   /* of detection: IR v10 of f16 networks may declare f32 for boxes and scores */
} LptOpenVinoFlags;

/* What OpenVINO says of an op. Static data: any thread. */
typedef struct
{
  const char *versions;     /* opsets in which the meaning of the op changed: "1 8 14"; "" or NULL = not an OpenVINO op */
  guint8      flags;        /* LptOpenVinoFlags */
} LptOpOpenVino;

/* --- attributes ------------------------------------------------------------ */

/* C type of an attribute. */
typedef enum
{
  LPT_ATTR_BOOL,      /* gboolean */
  LPT_ATTR_INT,       /* gint64 */
  LPT_ATTR_FLOAT,     /* double */
  LPT_ATTR_ENUM,      /* int, index into .names */
  LPT_ATTR_STRING,    /* char *, owned, never NULL after init */
  LPT_ATTR_INTS,      /* LptInts */
  LPT_ATTR_FLOATS,    /* LptFloats */
  LPT_ATTR_DTYPE,     /* LptDType */
  LPT_ATTR_SHAPE,     /* LptShape */
} LptAttrKind;

/* Bits of LptAttrField.flags. */
typedef enum
{
  LPT_ATTR_F_REQUIRED = 1 << 0,   /* an OpenVINO file must have it */
  LPT_ATTR_F_INTERNAL = 1 << 1,   /* not an OpenVINO attribute: text and JSON only */
  LPT_ATTR_F_NOT_LESS = 1 << 2,   /* a FLOAT: not less than 0 and not NaN */
  LPT_ATTR_F_POSITIVE = 1 << 3,   /* a FLOAT: greater than 0 */
  LPT_ATTR_F_HALF     = 1 << 4,   /* FLOATS: what rounding left, from -0.5 to 0.5 */
  LPT_ATTR_F_FINITE   = 1 << 5,   /* FLOATS: finite */
} LptAttrFlags;

/**
 * LptAttrField:
 * One attribute. The table of an op ends with name == NULL. Immutable.
 */
typedef struct
{
  const char         *name;        /* as in the IR: "exclude-pad" */
  LptAttrKind         kind;
  guint16             offset;      /* in the attribute struct */
  guint8              since;       /* first opset that has it, 0 = always */
  guint8              until;       /* last opset that has it, 0 = still */
  guint8              flags;       /* LptAttrFlags */
  const char         *fallback;    /* default as IR text; NULL = 0, empty, first name; what opsets without it mean, too */
  const char *const  *names;       /* LPT_ATTR_ENUM: NULL-terminated */
} LptAttrField;

/* Pointer to the field of @kind inside an attribute struct. */
#define LPT_ATTR_PTR(attrs, field) ((gpointer) ((char *) (attrs) + (field)->offset))

/* Does an op of this opset have it? 0 = the newest. */
LPT_EXPORT gboolean  lpt_attr_field_applies (const LptAttrField *field, guint opset);
/* Reads IR text into the field. FALSE + error: not a number, not a name, ... */
LPT_EXPORT gboolean  lpt_attr_parse         (const LptAttrField *field, gpointer attrs, const char *text, GError **error);
/* IR text of the field, e.g. "1, 2", "true", "explicit" (transfer full). */
LPT_EXPORT char     *lpt_attr_format        (const LptAttrField *field, gconstpointer attrs);
LPT_EXPORT gboolean  lpt_attr_equal         (const LptAttrField *field, gconstpointer a, gconstpointer b);
LPT_EXPORT gboolean  lpt_attr_is_default    (const LptAttrField *field, gconstpointer attrs);
/* Whole structs of one op: allocate with defaults, copy, compare, free. */
LPT_EXPORT gpointer  lpt_attrs_new          (const LptOpInfo *info, guint opset);
LPT_EXPORT gpointer  lpt_attrs_copy         (const LptOpInfo *info, gconstpointer attrs);
LPT_EXPORT gboolean  lpt_attrs_equal        (const LptOpInfo *info, gconstpointer a, gconstpointer b);
LPT_EXPORT void      lpt_attrs_free         (const LptOpInfo *info, gpointer attrs);
LPT_EXPORT const LptAttrField *lpt_attrs_find (const LptOpInfo *info, guint opset, const char *name);

/* --- ops ------------------------------------------------------------------- */

/**
 * LptInferFunc:
 * Sets dtype and shape of every output of @node from its inputs and attributes
 * (LptValue.dtype of a relaxed node is put back by the caller). Inputs may have
 * dynamic shapes; the result is as static as can be known. FALSE + error when
 * the inputs do not fit the op (message without node name: the caller adds it).
 */
typedef gboolean (*LptInferFunc) (LptNode *node, GError **error);

/**
 * LptOpRunFunc:
 * What an op of a plug-in (LPT_OP_CUSTOM) computes, in a run of a plan and where constants are folded.
 * @node: of the plan's own graph, with its attributes
 * @in: (transfer none): node->n_in tensors of the element types and shapes of the inputs, NULL where one is absent;
 *   codes stay codes, and LptValue.quant says what they stand for
 * @out: (out): node->n_out tensors (transfer full) of the outputs' element types and inferred shapes
 * May be called by several threads at once for different runs. FALSE + error ends the run (message without node name:
 * the caller adds it; what is in @out then is freed by the caller).
 */
typedef gboolean (*LptOpRunFunc) (LptNode *node, LptTensor *const *in, LptTensor **out, GError **error);

/**
 * LptOpInfo:
 * One op. Those of the table are static; a plug-in's own must outlive all graphs that have nodes of it. Never written:
 * any thread.
 */
struct _LptOpInfo
{
  LptOp               op;
  const char         *name;         /* "MaxPool" */
  guint8              min_in;
  guint8              max_in;       /* 255 = any number */
  gint8               n_out;        /* -1 = the node says */
  guint32             flags;        /* LptOpFlags: its traits */
  gsize               attrs_size;   /* 0 = no attributes */
  const LptAttrField *attrs;        /* ends with name == NULL; never NULL */
  LptInferFunc        infer;
  const char         *doc;
  LptOpOpenVino       openvino;
  LptOpRunFunc        run;          /* of a plug-in's op; NULL = plans refuse it, and in the table: the executor has a row */
};

/* LptOpInfo.max_in of an op with any number. */
#define LPT_ANY_INPUTS 255

/* Of OpenVINO; LptNode.opset is not above. */
#define LPT_NEWEST_OPSET 16

LPT_EXPORT const LptOpInfo *lpt_op_info       (LptOp op);           /* static data */
LPT_EXPORT const LptOpInfo *lpt_op_find       (const char *name);   /* any case, IR aliases (Const, ReLU, ...); NULL if unknown */
/* By that name with or without underscores ("reduce_mean"), or by a short one ("conv", "group_deconv", "mul"); NULL:
 * there is none. */
LPT_EXPORT const LptOpInfo *lpt_op_find_short   (const char *name);
/* How many bodies a node of it has. */
LPT_EXPORT guint            lpt_op_n_bodies     (const LptOpInfo *info);
/* Greatest of info->openvino.versions not above @opset (0 when there is none). */
LPT_EXPORT guint            lpt_op_version    (const LptOpInfo *info, guint opset);

G_END_DECLS

#endif
