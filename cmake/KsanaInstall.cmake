# `cmake --install build/release --prefix /usr` installs the program, its manual, completions and
# the systemd units in their standard places. The program writes its own manual and completions, and
# the units start the installed program. Component "program"; the library is a component of its own
# (KsanaLibrary.cmake).
include(GNUInstallDirs)

function(ksana_install program)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
            COMPONENT program)
    set(KSANA_PROGRAM $<TARGET_FILE:${program}>)
    set(KSANA_BIN ${CMAKE_INSTALL_BINDIR})
    set(KSANA_SHARE ${CMAKE_INSTALL_DATADIR})
    set(KSANA_MAN ${CMAKE_INSTALL_MANDIR}/man1)
    set(KSANA_UNITS ${PROJECT_SOURCE_DIR}/packaging)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/install_written.cmake.in
                   ${PROJECT_BINARY_DIR}/install_written.cmake.in @ONLY)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/install_written.cmake
         INPUT ${PROJECT_BINARY_DIR}/install_written.cmake.in)
    install(SCRIPT ${PROJECT_BINARY_DIR}/install_written.cmake COMPONENT program)
endfunction()
