// Applies etcd's limit of the request size to objects in other stores, so that the maximum object size is that of kube-apiserver.
//
// Thread-safety: pure functions.
// Errors:        500, worded like etcd's error; for a request that etcd's client refuses to send, worded like the client's error.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane {

// Checks the size of the request with which kube-apiserver would create an object. `bytes`: the size of the object in JSON. `in_etcd`:
// returns the size that the object would have in etcd; it is called only if `bytes` exceed the limit, because protobuf is never larger than
// JSON.
Status check_etcd_limit(std::string_view key, std::size_t bytes, const std::function<Result<std::size_t>()>& in_etcd);

}  // namespace backplane
