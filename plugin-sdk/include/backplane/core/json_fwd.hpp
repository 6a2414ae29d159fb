// The names of JSON values, for headers that only pass them on.
//
// Thread-safety: declarations only.
#pragma once

#include <boost/json/fwd.hpp>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

namespace json = boost::json;
using Value = json::value;
using Object = json::object;
using Array = json::array;

}  // namespace BACKPLANE_API
