/* test-onnx-openvino.c - OpenVINO's operators in ONNX files, in their domain and in none; OpenMMLab's
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-case.h"

#define IN_DOMAIN(domain, op, in, out, attributes) \
  "{'opType':'" op "','domain':'" domain "','input':[" in "],'output':[" out "],'attribute':[" attributes "]}"
#define OWN(op, in, out, attributes) IN_DOMAIN ("org.openvinotoolkit", op, in, out, attributes)
#define MM(op, in, out, attributes)  IN_DOMAIN ("mmdeploy", op, in, out, attributes)
#define X4    VALUE ("x", FLOAT, DIM ("4"))
#define X1212 VALUE ("x", FLOAT, DIM ("1") "," DIM ("2") "," DIM ("1") "," DIM ("2"))
#define X1133 VALUE ("x", FLOAT, DIM ("1") "," DIM ("1") "," DIM ("3") "," DIM ("3"))
#define X1122 VALUE ("x", FLOAT, DIM ("1") "," DIM ("1") "," DIM ("2") "," DIM ("2"))
#define ONE(name, value) INIT (name, FLOAT, "1", "floatData", value)
#define BOUNDS ONE ("a", "0") "," ONE ("b", "3") "," ONE ("c", "1") "," ONE ("d", "7")
#define QUANTIZED "'x','a','b','c','d'"
#define PAIR(name, dims, values) INIT (name, FLOAT, dims, "floatData", values)

static const OnnxCase cases[] = {
  { "fake-quantize", MODEL ("11", BOUNDS, X4, OWN ("FakeQuantize", QUANTIZED, "'y'", INT ("levels", "4"))), "4",
    "-1,0.6,1.4,9", "1,3,3,7" },
  { "fake-quantize-no-domain", MODEL ("11", BOUNDS, X4, NODE ("FakeQuantize", QUANTIZED, "'y'", INT ("levels",
    "4"))), "4", "-1,0.6,1.4,9",
    "1,3,3,7" },
  { "swish", MODEL ("11", "", X4, NODE ("Swish", "'x'", "'y'", "")), "4", "0,1,-1,2",
    "0,0.7310586,-0.2689414,1.7615942" },
  { "swish-beta", MODEL ("11", ONE ("a", "2"), X4, OWN ("Swish", "'x','a'", "'y'", "")), "4", "0,1,-1,2",
    "0,0.8807971,-0.1192029,1.9640276" },
  { "normalize-channels", MODEL ("11", PAIR ("w", "2", "10,100"), X1212, OWN ("Normalize", "'x','w'", "'y'", REAL
    ("eps", "0"))),
    "1,2,1,2", "3,5,4,12", "6,3.8461538,80,92.307692" },
  { "normalize-all", MODEL ("11", ONE ("w", "10"), X1212,
                            OWN ("Normalize", "'x','w'", "'y'", REAL ("eps", "1e-10") "," INT ("across_spatial",
                            "1") "," INT ("channel_shared", "1"))),
    "1,2,1,2", "1,1,1,1", "5,5,5,5" },
  { "group-norm", MODEL ("11", PAIR ("g", "1,2,1,1", "1,2") "," PAIR ("h", "1,2,1,1", "0,10"), X1212,
                         OWN ("GroupNorm", "'x','g','h'", "'y'", INT ("num_groups", "2") "," REAL ("eps", "1e-10"))),
    "1,2,1,2", "1,3,5,9", "-1,1,8,12" },
  /* The middle of all four, and the corner. */
  { "mm-grid-sampler", MODEL ("16", PAIR ("g", "1,1,2,2", "0,0,1,1"), X1122,
                              MM ("grid_sampler", "'x','g'", "'y'",
                                  INT ("interpolation_mode", "0") "," INT ("align_corners", "1"))),
    "1,1,2,2", "1,2,3,4", "2.5,4" },
  { "mm-roi-align", MODEL ("16", PAIR ("r", "1,5", "0,0.5,0.5,2.5,2.5"), X1133,
                           MM ("MMCVRoiAlign", "'x','r'", "'y'",
                               INT ("output_height", "2") "," INT ("output_width", "2") "," INT ("sampling_ratio", "1") ","
                               INT ("aligned", "1"))),
    "1,1,3,3", "1,2,3,4,5,6,7,8,9", "3,4,6,7" },
};

/* No operator of ONNX's is what they are. */
static const OnnxCase read_only[] = {
  { "mm-deform-conv", MODEL ("16", PAIR ("w", "1,1,1,1", "2") "," PAIR ("o", "1,2,2,2", "0.5,0,0,0,0,0,0,0"), X1122,
                             MM ("MMCVDeformConv2d", "'x','o','w'", "'y'",
                                 INTS ("stride", "1,1") "," INTS ("padding", "0,0,0,0") "," INT ("deform_groups", "1"))),
    "1,1,2,2", "1,2,3,4", "4,4,6,8" },
  { "mm-modulated-deform-conv",
    MODEL ("16", PAIR ("w", "1,1,1,1", "2") "," PAIR ("o", "1,2,2,2", "0.5,0,0,0,0,0,0,0") ","
                 PAIR ("m", "1,1,2,2", "1,1,0.5,1") "," ONE ("b", "10"), X1122,
           MM ("MMCVModulatedDeformConv2d", "'x','o','m','w','b'", "'y'", INTS ("stride", "1,1"))),
    "1,1,2,2", "1,2,3,4", "14,14,13,18" },
  { "mm-roi-align-rotated", MODEL ("16", PAIR ("r", "1,6", "0,1.5,1.5,2,2,1.57079633"), X1133,
                                   MM ("MMCVRoIAlignRotated", "'x','r'", "'y'",
                                       INT ("output_height", "2") "," INT ("output_width", "2") ","
                                       INT ("sampling_ratio", "1") "," INT ("clockwise", "1"))),
    "1,1,3,3", "1,2,3,4,5,6,7,8,9", "4,7,3,6" },
  { "mm-nms-rotated", MODEL ("16", PAIR ("b", "1,3,5", "0,0,1,1,0,0,0,1,1,0.78539816,5,0,1,1,0"),
                             VALUE ("x", FLOAT, DIM ("1") "," DIM ("1") "," DIM ("3")),
                             MM ("NMSRotated", "'b','x'", "'y'", REAL ("iou_threshold", "0.7") ","
                                 REAL ("score_threshold", "0.1"))),
    "1,1,3", "0.9,0.95,0.6", "0,0,1,0,0,2" },
  { "deformable", MODEL ("11", PAIR ("w", "1,1,1,1", "2") "," PAIR ("o", "1,2,2,2", "0,0,0,0,0,0,0,0.5"), X1122,
                         OWN ("DeformableConv2D", "'x','o','w'", "'y'", INTS ("strides", "1,1") "," INT
                         ("deformable_groups", "1"))),
    "1,1,2,2", "1,2,3,4", "2,4,6,8" },
  { "prior-box", MODEL ("11", PAIR ("i", "1,1,10,10", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
    "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                                                     "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                                                     "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"),
                        VALUE ("x", FLOAT, DIM ("1") "," DIM ("1") "," DIM ("1") "," DIM ("1")),
                        OWN ("PriorBox", "'x','i'", "'y'", REALS ("min_size", "4") "," REALS ("variance", "0.1") ","
                        REAL ("offset", "0.5"))),
    "1,1,1,1", "0", "0.3,0.3,0.7,0.7,0.1,0.1,0.1,0.1" },
  { "detection-output", MODEL ("11", PAIR ("s", "1,2", "0.1,0.9") "," PAIR ("a", "1,2,4",
    "0.25,0.25,0.75,0.75,0.1,0.1,0.2,0.2"),
                               VALUE ("x", FLOAT, DIM ("1") "," DIM ("4")),
                               OWN ("DetectionOutput", "'x','s','a'", "'y'", REAL ("nms_threshold", "0.5") "," TEXT
                               ("code_type", "Q0VOVEVSX1NJWkU="))),
    "1,4", "1,0,3.4657359,0", "0,1,0.9,0.05,0.25,1.05,0.75" },
  { "top", MODEL ("11", PAIR ("r", "2,4", "1,1,1,1,2,2,2,2"), VALUE ("x", FLOAT, DIM ("2")),
                  OWN ("ExperimentalDetectronTopKROIs", "'r','x'", "'y'", INT ("max_rois", "1"))), "2", "0.5,0.9",
                  "2,2,2,2" },
  { "proposals", MODEL ("11", PAIR ("a", "1,4", "0,0,9,9") "," PAIR ("i", "1,3", "100,100,1") "," PAIR ("d",
    "1,4,1,1", "1,0,0,0"),
                        VALUE ("x", FLOAT, DIM ("1") "," DIM ("1") "," DIM ("1") "," DIM ("1")),
                        OWN ("GenerateProposals", "'x','d','i','a'", "'y','n','m'", INT ("post_nms_topN", "5"))),
                        "1,1,1,1", "0.5", "10,0,19,9" },
  { "features", MODEL ("11", PAIR ("r", "1,4", "0,0,8,8"), X1122,
                       OWN ("ExperimentalDetectronROIFeatureExtractor", "'r','x'", "'y','z'", INT ("output_size",
                       "1") "," INTS ("pyramid_scales", "8,16"))),
    "1,1,2,2", "1,2,3,4", "2.5" },
};

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/onnx-openvino/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], onnx_case_test);
    }
  for (guint i = 0; i < G_N_ELEMENTS (read_only); i++)
    {
      g_autofree char *path = g_strconcat ("/onnx-openvino/", read_only[i].name, NULL);

      g_test_add_data_func (path, &read_only[i], onnx_case_test_read);
    }
  return g_test_run ();
}
