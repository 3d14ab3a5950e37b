# ksana_module(name RANK n [DEPS m…] [LINK lib…] [PRIVATE_HEADERS …]
#              [TEST_LABEL l] [TEST_LINK lib…])
#
# Builds the calling folder (src/ksana/<name>) with its subfolders as one static library,
# ksana::<name>. Every .cpp file belongs to the library; every _test.cpp file belongs to its test
# program, ksana_<name>_test, labelled "unit" unless TEST_LABEL says otherwise. The function
# enforces the architecture in four ways:
#   1. a dependency of the same or a higher rank stops the configuration;
#   2. an include of "ksana/<m>/…" with <m> not among DEPS stops the configuration;
#   3. a link test links the whole library with its declared dependencies only, so that a hidden
#      call to a higher rank is an undefined reference;
#   4. every header must compile alone (target all_verify_interface_header_sets; ./dev check).
# LINK names third-party libraries besides fmt; they stay private to the module. PRIVATE_HEADERS
# include a third-party library and are not for other modules; *_fixture.hpp are for the module's
# tests.

# The targets that are tested without sanitizers only: programs that tests start as a process, and
# slow tests. All other tests run with sanitizers, so ./dev test does not build them twice.
add_custom_target(ksana_plain)

function(ksana_module name)
    cmake_parse_arguments(PARSE_ARGV 1 M "" "RANK;TEST_LABEL"
                          "DEPS;LINK;PRIVATE_HEADERS;TEST_LINK")
    if(M_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "module ${name}: unknown arguments ${M_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT DEFINED M_RANK)
        message(FATAL_ERROR "module ${name}: RANK is missing")
    endif()
    ksana_check_ranks(${name} ${M_RANK} "${M_DEPS}")
    set_property(GLOBAL PROPERTY KSANA_RANK_${name} ${M_RANK})
    set_property(GLOBAL PROPERTY KSANA_DEPS_${name} ${M_DEPS})
    set_property(GLOBAL PROPERTY KSANA_LINK_${name} ${M_LINK})

    file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
    file(GLOB_RECURSE headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.hpp)
    ksana_check_includes(${name} "${M_DEPS}" "${sources};${headers}")
    set(tests ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    list(FILTER headers EXCLUDE REGEX "_fixture\\.hpp$")
    list(REMOVE_ITEM headers ${M_PRIVATE_HEADERS})

    add_library(ksana_${name} STATIC ${sources})
    add_library(ksana::${name} ALIAS ksana_${name})
    target_sources(ksana_${name} PUBLIC FILE_SET HEADERS
                   BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${headers})
    set_target_properties(ksana_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    list(TRANSFORM M_DEPS PREPEND ksana:: OUTPUT_VARIABLE deps)
    target_link_libraries(ksana_${name} PUBLIC ${deps} PRIVATE fmt::fmt ${M_LINK})
    ksana_use_pch(ksana_${name} ksana_pch)
    ksana_use_unity(ksana_${name})

    if(NOT KSANA_TESTS)
        return()
    endif()
    if(NOT KSANA_SANITIZE)
        add_executable(ksana_${name}_linktest ${PROJECT_SOURCE_DIR}/cmake/pch/link_test_main.cpp)
        target_link_libraries(ksana_${name}_linktest PRIVATE
                              $<LINK_LIBRARY:WHOLE_ARCHIVE,ksana_${name}>)
        add_dependencies(ksana_plain ksana_${name}_linktest)
    endif()
    if(tests)
        if(NOT M_TEST_LABEL)
            set(M_TEST_LABEL unit)
        endif()
        ksana_test(ksana_${name}_test LABELS ${M_TEST_LABEL} SOURCES ${tests}
                   LINK ksana::${name} ${M_TEST_LINK})
    endif()
endfunction()

# ksana_test(target LABELS l… SOURCES … [LINK …]): a GoogleTest executable with each of its tests
# registered in ctest. With sanitizers the executable is one ctest test, as starting a process takes
# longer there than most tests.
function(ksana_test target)
    cmake_parse_arguments(PARSE_ARGV 1 T "" "" "LABELS;SOURCES;LINK")
    include(GoogleTest)
    add_executable(${target} ${T_SOURCES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE KSANA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_compile_options(${target} PRIVATE ${KSANA_TEST_OPTIONS})
    target_link_libraries(${target} PRIVATE ${T_LINK} fmt::fmt GTest::gtest_main)
    ksana_use_pch(${target} ksana_test_pch)
    if(KSANA_SANITIZE)
        add_test(NAME ${target} COMMAND ${target} --gtest_brief=1)
        set_tests_properties(${target} PROPERTIES LABELS "${T_LABELS}" TIMEOUT 900)
    else()
        gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST
                             PROPERTIES LABELS "${T_LABELS}" TIMEOUT 300)
    endif()
endfunction()

function(ksana_use_pch target from)
    if(KSANA_PCH)
        target_precompile_headers(${target} REUSE_FROM ${from})
    endif()
endfunction()

# Compiles neighbouring sources of the target as one, so that their common headers and templates are
# compiled once. The batches are of about equal size, none much above KSANA_UNITY, as an edit
# recompiles a whole batch. So file-local names must be unique within a module. Sources with an
# absolute path are compiled alone.
function(ksana_use_unity target)
    if(NOT KSANA_UNITY)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources EXCLUDE REGEX "^/")
    set(total 0)
    foreach(source IN LISTS sources)
        file(SIZE ${CMAKE_CURRENT_SOURCE_DIR}/${source} size)
        math(EXPR total "${total} + ${size}")
    endforeach()
    math(EXPR batches "${total} / (${KSANA_UNITY} * 1024) + 1")
    math(EXPR share "${total} / ${batches} + 1")
    set(before 0)
    foreach(source IN LISTS sources)
        file(SIZE ${CMAKE_CURRENT_SOURCE_DIR}/${source} size)
        math(EXPR batch "(${before} + ${size} / 2) / ${share}")
        math(EXPR before "${before} + ${size}")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(ksana_check_ranks name rank deps)
    foreach(dep IN LISTS deps)
        get_property(dep_rank GLOBAL PROPERTY KSANA_RANK_${dep})
        if("${dep_rank}" STREQUAL "")
            message(FATAL_ERROR "module ${name}: unknown dependency ${dep} (order in "
                                "src/ksana/CMakeLists.txt is by rank)")
        endif()
        if(NOT dep_rank LESS rank)
            message(FATAL_ERROR "module ${name} (rank ${rank}) may not use ${dep} (rank "
                                "${dep_rank}): a module uses only lower ranks")
        endif()
    endforeach()
endfunction()

function(ksana_check_includes name deps files)
    foreach(file IN LISTS files)
        file(STRINGS ${file} includes REGEX "^#include \"ksana/[a-z_]+/")
        foreach(line IN LISTS includes)
            string(REGEX REPLACE "^#include \"ksana/([a-z_]+)/.*" "\\1" used "${line}")
            if(NOT used STREQUAL name AND NOT used IN_LIST deps)
                message(FATAL_ERROR "${file}: includes ksana/${used}/ but module ${name} does "
                                    "not declare it in DEPS")
            endif()
        endforeach()
    endforeach()
endfunction()
