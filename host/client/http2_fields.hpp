// Converts the header fields of an HTTP/2 request to nghttp2's array of fields. The fields point into the request where possible, so that
// nghttp2 copies few of them.
//
// Thread-safety: a value of one thread.
// Lifetime:      the request, scheme and authority must not change before nghttp2 has sent or discarded the HEADERS frame. The Http2Fields
//                object may be destroyed after the request has been submitted.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <boost/container/small_vector.hpp>
#include <forward_list>
#include <string>
#include <string_view>

#include "client/remote_call.hpp"

namespace backplane {

// The parts of the header fields that all requests of a connection share.
struct Http2FieldDefaults {
  std::string_view scheme;
  std::string authority;  // without line breaks; a Host field of the request replaces it
  // Returns whether a grpc-timeout value is the usual one. Only the usual value is put into the HPACK table, because most calls of a client
  // have the same timeout. A value becomes usual_timeout if it occurs twice and no third value occurs between.
  bool is_usual_timeout(std::string_view value);
  std::string usual_timeout = {}, last_timeout = {};
};

class Http2Fields {
 public:
  Http2Fields(const RemoteCall& call, Http2FieldDefaults& defaults);
  const nghttp2_nv* data() const noexcept { return rows_.data(); }
  std::size_t size() const noexcept { return rows_.size(); }

 private:
  // `flags`: flags of nghttp2_nv. row() adds NGHTTP2_NV_FLAG_NO_COPY_VALUE if nghttp2 need not copy the value.
  nghttp2_nv row(std::string_view name, std::string_view value, unsigned flags);
  void add_length(std::uint64_t size);

  boost::container::small_vector<nghttp2_nv, 24> rows_;
  std::forward_list<std::string> changed_;
  std::array<char, 20> length_;
};

}  // namespace backplane
