// etcd's limit of the request size, for other stores: it is the maximum object size that users of kube-apiserver know.
//
// Thread-safety: pure functions.
// Errors:        500, worded like etcd, or like its client for a request that the client does not send.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane {

// Checks the request in which kube-apiserver creates an object of `bytes` at `key`.  `in_etcd` returns its size in etcd, and is called only
// if `bytes` exceed the limit: no object is larger in protobuf than in JSON.
Status check_etcd_limit(std::string_view key, std::size_t bytes, const std::function<Result<std::size_t>()>& in_etcd);

}  // namespace backplane
