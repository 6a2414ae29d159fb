// Beast's request parser. Http1Parser fills a RequestHead and collects body bytes.
//
// Thread-safety: belongs to one session.
// Lifetime:      one request; the session creates a new parser for the next request.
#pragma once

#include <boost/beast/http/basic_parser.hpp>

#include "http/http_exchange.hpp"

namespace backplane {

class Http1Parser final : public boost::beast::http::basic_parser<true> {
 public:
  using Error = boost::beast::error_code;
  explicit Http1Parser(std::size_t max_header_bytes);

  RequestHead head;
  int version = 11;  // 10 or 11
  // The decoded body bytes of the last put().
  std::string body;

 private:
  using StringView = boost::beast::string_view;
  void on_request_impl(boost::beast::http::verb, StringView method, StringView target, int http_version, Error&) override;
  void on_response_impl(int, StringView, int, Error&) override {}
  void on_field_impl(boost::beast::http::field, StringView name, StringView value, Error&) override;
  void on_header_impl(Error&) override { header_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(StringView bytes, Error&) override;
  void on_chunk_header_impl(std::uint64_t, StringView, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, StringView bytes, Error&) override;
  void on_finish_impl(Error&) override {}

  bool header_done_ = false;
};

// Returns the reason why the session must refuse a parsed head: a status code and net/http's message. The result is empty if the session
// can serve the request.
std::string http1_refusal(const Http1Parser& parser);
// Replaces an absolute target by its path: "http://host/path" → "/path". The host becomes the value of the Host header.
void normalize_target(RequestHead& head);

}  // namespace backplane
