// The names of JSON values, for headers that only declare functions on them. Include core/json.hpp to use the values.
//
// Thread-safety: declarations only.
#pragma once

#include <boost/json/fwd.hpp>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The JSON library of the SDK. Its types are part of the contract.
namespace json = boost::json;
using Value = json::value;
using Object = json::object;
using Array = json::array;

}  // namespace BACKPLANE_API
