# Compiler settings shared by every target. Presets (CMakePresets.json) choose among them.

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
    # The sloppiness is what lets ccache work together with precompiled headers. With paths taken
    # relative to the tree, clones and worktrees of one machine share what they have compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${KSANA_CCACHE})
endif()
find_program(KSANA_MOLD mold)
if(KSANA_MOLD AND NOT KSANA_FUZZ)
    # Code that runs at the start, and code that hardly ever runs, stands apart as with the other
    # linkers: a page of it is not in memory for what is next to it.
    add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
endif()

# No -Wmissing-field-initializers: params structs are filled by designated initialisers that leave
# out what keeps its default.
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
    # The libraries too: libFuzzer steers by their coverage, and the sanitizers watch them.
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
endif()
if(NOT KSANA_SANITIZE STREQUAL "")
    # g++ 12 sees uninitialised reads and wrong bounds in std::variant and std::string where the
    # sanitizers' code stands between. The plain presets judge the warnings.
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                        -Wno-stringop-overread -Wno-restrict)
endif()
if(KSANA_SANITIZE STREQUAL "address")
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
    # Of tests: checks of every pointer that is followed cost a third of the time it takes to
    # compile them, and a wrong one ends the test anyway. What is tested has them all.
    set(KSANA_TEST_OPTIONS -fno-sanitize=vptr,null,alignment,object-size)
elseif(KSANA_SANITIZE STREQUAL "thread")
    # -Wno-tsan: g++ warns about every atomic fence it cannot instrument, also inside libraries.
    add_compile_options(-fsanitize=thread -Wno-tsan)
    add_link_options(-fsanitize=thread)
elseif(NOT KSANA_SANITIZE STREQUAL "")
    message(FATAL_ERROR "KSANA_SANITIZE is '${KSANA_SANITIZE}': use address, thread or nothing")
endif()
