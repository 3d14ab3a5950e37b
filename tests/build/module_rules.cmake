# cmake -DSOURCE=… -DFAULT=rank|include|link|none -DWORK=… -P module_rules.cmake
#
# Creates a project of two modules, low (rank 1) and high (rank 2), with one fault (or none), and
# configures and builds it with the real cmake/KsanaModule.cmake.
file(REMOVE_RECURSE ${WORK})

set(low_rank 1)
set(high_deps "DEPS low")
set(high_code "#include \"ksana/low/low.hpp\"\nint High() { return Low(); }\n")
set(low_code "#include \"ksana/low/low.hpp\"\nint Low() { return 1; }\n")
if(FAULT STREQUAL "rank")
    set(low_rank 2)
elseif(FAULT STREQUAL "include")
    set(high_deps "")
elseif(FAULT STREQUAL "link")
    # A call to a higher rank without an include: only the linker can detect it.
    set(low_code "#include \"ksana/low/low.hpp\"\nint High();\nint Low() { return High(); }\n")
endif()

file(WRITE ${WORK}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(rules LANGUAGES CXX)
set(KSANA_TESTS ON)
set(CMAKE_CXX_STANDARD 20)
find_package(fmt REQUIRED)
include(${SOURCE}/cmake/KsanaModule.cmake)
add_subdirectory(src/ksana/low)
add_subdirectory(src/ksana/high)
")
file(WRITE ${WORK}/cmake/pch/link_test_main.cpp "int main() { return 0; }\n")
file(WRITE ${WORK}/src/ksana/low/CMakeLists.txt
     "ksana_module(low RANK ${low_rank})\n")
file(WRITE ${WORK}/src/ksana/low/low.hpp "#pragma once\nint Low();\n")
file(WRITE ${WORK}/src/ksana/low/low.cpp "${low_code}")
file(WRITE ${WORK}/src/ksana/high/CMakeLists.txt
     "ksana_module(high RANK 2 ${high_deps})\n")
file(WRITE ${WORK}/src/ksana/high/high.hpp "#pragma once\nint High();\n")
file(WRITE ${WORK}/src/ksana/high/high.cpp "${high_code}")

execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/build -G ${GENERATOR}
                        -DCMAKE_CXX_COMPILER=${COMPILER} RESULT_VARIABLE failed)
if(NOT failed)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build RESULT_VARIABLE failed)
endif()
if(NOT failed)
    message("module rules: fine")
endif()
