# Manual pages and completion, made by the program from its own tables, and installed with it. Left out where the program cannot
# run on the machine that builds.
#
# SPDX-License-Identifier: Apache-2.0

install (FILES docs/man/lpt-text.5 docs/man/lpt-json.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install (FILES docs/lpt-graph.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/lptc)
if (CMAKE_CROSSCOMPILING)
  return ()
endif ()

set (help_dir ${CMAKE_CURRENT_BINARY_DIR}/help)
add_custom_command (
  OUTPUT ${help_dir}/stamp
  COMMAND ${CMAKE_COMMAND} -E make_directory ${help_dir}
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/scripts/make-help $<TARGET_FILE:lptc> ${help_dir}
  COMMAND ${CMAKE_COMMAND} -E touch ${help_dir}/stamp
  DEPENDS lptc ${CMAKE_CURRENT_SOURCE_DIR}/scripts/make-help
  VERBATIM)
add_custom_target (help_files ALL DEPENDS ${help_dir}/stamp)
install (DIRECTORY ${help_dir}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install (FILES ${help_dir}/lptc.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lptc)
install (FILES ${help_dir}/_lptc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install (FILES ${help_dir}/lptc.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
