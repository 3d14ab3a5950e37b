#include "library/library_fixture.hpp"
