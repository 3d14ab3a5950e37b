// Holds the precompiled header that other targets reuse; see CMakeLists.txt beside it.
