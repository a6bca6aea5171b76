# ninja docs: the reference of the library from its headers, by doxygen; what is not documented is an error.
#
# SPDX-License-Identifier: Apache-2.0

find_program (DOXYGEN doxygen)
if (NOT DOXYGEN)
  message (STATUS "Without doxygen: no target docs")
  return ()
endif ()
set (LPT_DOCS_WARN YES)
configure_file (docs/api/Doxyfile.in Doxyfile @ONLY)
file (MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/docs)
add_custom_target (docs COMMAND ${DOXYGEN} ${CMAKE_CURRENT_BINARY_DIR}/Doxyfile VERBATIM)
