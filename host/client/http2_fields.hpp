// The header fields of an HTTP/2 request for nghttp2, which copies as few of them as it can.
//
// Thread-safety: a value of one thread.
// Lifetime:      the request, scheme and authority must not change before nghttp2 has sent or discarded the HEADERS frame. The object
//                itself may be destroyed when the request has been submitted.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <boost/container/small_vector.hpp>
#include <forward_list>
#include <string>
#include <string_view>

#include "client/remote_call.hpp"

namespace backplane {

// What the requests of one connection have in common.
struct Http2FieldDefaults {
  std::string_view scheme;
  std::string authority;  // without line breaks; replaced by a request's Host
  // Most calls of a client have the same grpc-timeout, which the compression table then has; the newest value that came twice in a row.
  bool is_usual_timeout(std::string_view value);
  std::string usual_timeout = {}, last_timeout = {};
};

class Http2Fields {
 public:
  Http2Fields(const RemoteCall& call, Http2FieldDefaults& defaults);
  const nghttp2_nv* data() const noexcept { return rows_.data(); }
  std::size_t size() const noexcept { return rows_.size(); }

 private:
  // `flags`: of nghttp2_nv, but for those of the value's copy.
  nghttp2_nv row(std::string_view name, std::string_view value, unsigned flags);
  void add_length(std::uint64_t size);

  boost::container::small_vector<nghttp2_nv, 24> rows_;
  std::forward_list<std::string> changed_;
  std::array<char, 20> length_;
};

}  // namespace backplane
