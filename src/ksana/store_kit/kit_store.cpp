#include "ksana/store_kit/kit_store.hpp"
