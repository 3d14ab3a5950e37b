# Compiler settings of all targets. Presets (CMakePresets.json) choose among them.

option(KSANA_TESTS "Build the tests" ON)
option(KSANA_BENCH "Build the benchmarks" OFF)
option(KSANA_FUZZ "Build the fuzzers against libFuzzer (clang); else they replay a corpus" OFF)
option(KSANA_PCH "Precompile the standard headers" ON)
option(KSANA_WERROR "Treat warnings as errors" OFF)
set(KSANA_UNITY 0 CACHE STRING "KB of sources that are compiled as one; 0: each source alone")
set(KSANA_SANITIZE "" CACHE STRING "Empty, address (with undefined) or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set_property(GLOBAL PROPERTY USE_FOLDERS ON)

find_program(KSANA_CCACHE ccache)
if(KSANA_CCACHE)
    # ccache needs the sloppiness for precompiled headers. Paths are relative to the tree, so that
    # clones and worktrees on one machine share the cache.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${KSANA_CCACHE})
endif()
find_program(KSANA_MOLD mold)
if(KSANA_MOLD AND NOT KSANA_FUZZ)
    # Keeps startup code and rarely used code in sections of their own, as other linkers do: hot
    # pages then hold no cold code.
    add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
endif()

# No -Wmissing-field-initializers: designated initialisers of params structs omit members that keep
# their default.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                    -Wold-style-cast -Wimplicit-fallthrough -Wno-missing-field-initializers
                    -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
endif()
if(KSANA_WERROR)
    add_compile_options(-Werror)
endif()

if(KSANA_FUZZ)
    # Applies to the libraries too: libFuzzer needs their coverage, and the sanitizers check them.
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
endif()
if(NOT KSANA_SANITIZE STREQUAL "")
    # With sanitizers, g++ 12 reports false uninitialised reads and wrong bounds in std::variant and
    # std::string. The plain presets keep these warnings.
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                        -Wno-stringop-overread -Wno-restrict)
endif()
if(KSANA_SANITIZE STREQUAL "address")
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
    # For test code only: checks of every pointer access cost a third of its compile time, and a bad
    # pointer ends the test anyway. The tested code has all checks.
    set(KSANA_TEST_OPTIONS -fno-sanitize=vptr,null,alignment,object-size)
elseif(KSANA_SANITIZE STREQUAL "thread")
    # -Wno-tsan: g++ warns about every atomic fence that it cannot instrument, even in libraries.
    add_compile_options(-fsanitize=thread -Wno-tsan)
    add_link_options(-fsanitize=thread)
elseif(NOT KSANA_SANITIZE STREQUAL "")
    message(FATAL_ERROR "KSANA_SANITIZE is '${KSANA_SANITIZE}': use address, thread or nothing")
endif()
