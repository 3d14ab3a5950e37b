# ksana_library(MODULE): the embeddable library as users get it. All modules that MODULE needs are
# one archive, libksana.a (target ksana_library), so that users link one library and not thirty.
# Installed (component "library"): the archive, the public headers with the internal headers that
# they include, a package for find_package(ksana), and ksana.pc.
#
# Third-party libraries come from the LINK of the modules. Each needs a line in this table: how
# find_package finds it, its pkg-config module ("-": none), and the flag to link it without one.
set(KSANA_LIBRARY_TABLE
    "fmt::fmt|fmt|fmt|"
    "Boost::json|Boost @Boost_VERSION_STRING@ EXACT COMPONENTS json|-|-lboost_json"
    "tomlplusplus::tomlplusplus|tomlplusplus|tomlplusplus|"
    "OpenSSL::SSL|OpenSSL 3.0|libssl|"
    "OpenSSL::Crypto|OpenSSL 3.0|libcrypto|"
    "SQLite::SQLite3|SQLite3 3.40|sqlite3|"
    "Threads::Threads|Threads|-|-pthread"
    "dl||-|-ldl")
# Libraries of headers: not needed after the build.
set(KSANA_HEADER_LIBRARIES Boost::headers)

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

function(ksana_library module)
    ksana_modules_below(modules ${module})
    set(links fmt::fmt Threads::Threads)
    add_library(ksana_library STATIC)
    foreach(one IN LISTS modules)
        target_sources(ksana_library PRIVATE $<TARGET_OBJECTS:ksana_${one}>)
        get_property(link GLOBAL PROPERTY KSANA_LINK_${one})
        list(APPEND links ${link})
    endforeach()
    list(REMOVE_DUPLICATES links)
    list(REMOVE_ITEM links ${KSANA_HEADER_LIBRARIES})
    set_target_properties(ksana_library PROPERTIES OUTPUT_NAME ksana EXPORT_NAME ksana
                          LINKER_LANGUAGE CXX
                          ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/library)
    target_compile_features(ksana_library INTERFACE cxx_std_20)
    # PRIVATE: users link these, and get none of their include folders and definitions.
    target_link_libraries(ksana_library PRIVATE ${links})
    ksana_install_library("${links}")
endfunction()

# Sets `result` to the module and all modules that it needs.
function(ksana_modules_below result module)
    set(found ${module})
    set(waiting ${module})
    while(waiting)
        list(POP_FRONT waiting one)
        get_property(deps GLOBAL PROPERTY KSANA_DEPS_${one})
        foreach(dep IN LISTS deps)
            if(NOT dep IN_LIST found)
                list(APPEND found ${dep})
                list(APPEND waiting ${dep})
            endif()
        endforeach()
    endwhile()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

function(ksana_install_library links)
    set(from ${PROJECT_SOURCE_DIR}/cmake/library)
    set(made ${PROJECT_BINARY_DIR}/library)
    set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ksana)
    ksana_library_needs("${links}")
    install(TARGETS ksana_library EXPORT ksana_targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
            INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT ksana_targets DESTINATION ${package} NAMESPACE ksana::
            FILE ksana-targets.cmake COMPONENT library)
    configure_package_config_file(${from}/ksana-config.cmake.in ${made}/ksana-config.cmake
                                  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
    # As the names may change before 1.0.
    write_basic_package_version_file(${made}/ksana-config-version.cmake
                                     COMPATIBILITY SameMinorVersion)
    install(FILES ${made}/ksana-config.cmake ${made}/ksana-config-version.cmake
                  ${from}/ksana_add_jobs.cmake DESTINATION ${package} COMPONENT library)

    # Relative, so that the installed folder can be moved.
    file(RELATIVE_PATH KSANA_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    string(REGEX REPLACE "/$" "" KSANA_PREFIX_FROM_PC ${KSANA_PREFIX_FROM_PC})
    configure_file(${from}/ksana.pc.in ${made}/ksana.pc @ONLY)
    install(FILES ${made}/ksana.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

    configure_file(${from}/install_headers.cmake.in ${made}/install_headers.cmake @ONLY)
    install(SCRIPT ${made}/install_headers.cmake COMPONENT library)
    # CMake itself never strips a static library.
    set(archive "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libksana.a")
    install(CODE "
        if(CMAKE_INSTALL_DO_STRIP)
            execute_process(COMMAND ${CMAKE_STRIP} --strip-debug \"${archive}\"
                            COMMAND_ERROR_IS_FATAL ANY)
        endif()" COMPONENT library)
endfunction()

# Looks the libraries up in the table. Sets KSANA_FIND_DEPENDENCIES (CMake code), KSANA_PC_REQUIRES
# and KSANA_PC_LIBS for the caller.
function(ksana_library_needs links)
    set(finds)
    set(modules)
    set(flags)
    foreach(link IN LISTS links)
        set(row ${KSANA_LIBRARY_TABLE})
        list(FILTER row INCLUDE REGEX "^${link}\\|")
        if(NOT row MATCHES "^([^|]+)\\|([^|]*)\\|([^|]+)\\|([^|]*)$")
            message(FATAL_ERROR "cmake/KsanaLibrary.cmake: the table lacks ${link}")
        endif()
        if(CMAKE_MATCH_2)
            string(CONFIGURE "find_dependency(${CMAKE_MATCH_2})" find @ONLY)
            list(APPEND finds ${find})
        endif()
        if(NOT CMAKE_MATCH_3 STREQUAL "-")
            list(APPEND modules ${CMAKE_MATCH_3})
        endif()
        list(APPEND flags ${CMAKE_MATCH_4})
    endforeach()
    list(REMOVE_DUPLICATES finds)
    list(JOIN finds "\n" finds)
    list(JOIN modules " " modules)
    list(JOIN flags " " flags)
    set(KSANA_FIND_DEPENDENCIES ${finds} PARENT_SCOPE)
    set(KSANA_PC_REQUIRES ${modules} PARENT_SCOPE)
    set(KSANA_PC_LIBS ${flags} PARENT_SCOPE)
endfunction()
