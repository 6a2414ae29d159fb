#include "connections/linking_exchange.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

namespace backplane::core {

void LinkingExchange::note(std::string_view name, std::string_view value) {
  if (boost::algorithm::iequals(name, "Content-Encoding")) coding_ = value;
  if (boost::algorithm::iequals(name, "Location")) redirects_ = !value.empty();
}

void LinkingExchange::add_response_header(std::string name, std::string value) {
  note(name, value);
  inner().add_response_header(std::move(name), std::move(value));
}

void LinkingExchange::set_response_header(std::string name, std::string value) {
  note(name, value);
  inner().set_response_header(std::move(name), std::move(value));
}

// A page in an unknown content encoding passes unchanged.
void LinkingExchange::link_if_table(int code, std::string_view content_type) {
  const std::string type = boost::algorithm::trim_copy(std::string(content_type.substr(0, content_type.find(';'))));
  if (code < 200 || redirects_ || type != "text/html" || inner().method() == "HEAD") return;
  if (!coding_.empty()) {
    packed_ = PackedText::of(coding_);
    if (packed_ == nullptr) return;
  }
  links_.emplace(rules_);
}

std::vector<SharedBytes> LinkingExchange::rewritten(const std::vector<SharedBytes>& chunks, bool at_end) {
  std::string out;
  for (const SharedBytes& chunk : chunks) out.append(links_->feed(packed_ ? packed_->unpack(chunk.view()) : std::string(chunk.view())));
  if (at_end) out.append(links_->end());
  if (packed_) out = packed_->pack(out, at_end);
  std::vector<SharedBytes> pieces;
  if (!out.empty()) pieces.emplace_back(std::move(out));
  return pieces;
}

Task<void> LinkingExchange::respond(int code, std::string_view content_type, std::vector<SharedBytes> body) {
  link_if_table(code, content_type);
  if (links_) body = rewritten(body, true);
  if (packed_ && packed_->failed()) {
    inner().abort();
    co_return;
  }
  co_await inner().respond(code, content_type, std::move(body));
}

Task<Status> LinkingExchange::start(int code, std::string_view content_type) {
  link_if_table(code, content_type);
  Status started = co_await inner().start(code, content_type);
  co_return started;
}

Task<Status> LinkingExchange::write(std::vector<SharedBytes> chunks) {
  if (links_) chunks = rewritten(chunks, false);
  Status written = co_await inner().write(std::move(chunks));
  if (written.ok() && packed_ && packed_->failed()) {
    inner().abort();
    co_return internal_error("the backend's answer cannot be unpacked");
  }
  co_return written;
}

Task<void> LinkingExchange::finish() {
  if (links_) {
    std::vector<SharedBytes> rest = rewritten({}, true);
    Status written = co_await inner().write(std::move(rest));
    (void)written;  // an error means that the client has disconnected
  }
  co_await inner().finish();
}

}  // namespace backplane::core
