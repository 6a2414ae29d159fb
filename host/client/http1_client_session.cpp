// HTTP/1.1 as a client: one call at a time.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdio>
#include <optional>

#include "backplane/rest/store_hooks.hpp"
#include "client/remote_session.hpp"
#include "http/header_text.hpp"

namespace backplane {
namespace {

namespace beast_http = boost::beast::http;

// Limits of Go's net/http: kMaxInterim is the number of informational responses before the final one, kMaxUnparsed the number of bytes of
// chunk headers and trailers.
constexpr int kMaxInterim = 5;
constexpr std::size_t kMaxUnparsed = std::size_t{1} << 20;
// Most heads fit into this size. An idle connection retains an output buffer of at most this size.
constexpr std::size_t kKeptHead = 4096;
constexpr std::size_t kUsualHeaders = 16;

// Parses the head of a response and collects the bytes of its body.
class AnswerParser final : public beast_http::basic_parser<false> {
 public:
  using Error = boost::beast::error_code;
  explicit AnswerParser(bool without_body) {
    constexpr std::uint32_t kMaxHeader = 1 << 20;
    eager(true);
    header_limit(kMaxHeader);
    body_limit(boost::none);
    skip(without_body);
    headers.reserve(kUsualHeaders);
  }
  int code = 0;
  Headers headers;
  Headers trailers;
  std::string body;  // the body bytes that the last put() has parsed

 private:
  using StringView = boost::beast::string_view;
  void on_request_impl(beast_http::verb, StringView, StringView, int, Error&) override {}
  void on_response_impl(int status, StringView, int, Error&) override { code = status; }
  void on_field_impl(beast_http::field, StringView name, StringView value, Error&) override {
    (header_done_ ? trailers : headers).emplace_back(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  void on_header_impl(Error&) override { header_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(StringView bytes, Error&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, StringView, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, StringView bytes, Error&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(Error&) override {}

  bool header_done_ = false;
};

class Http1ClientSession final : public RemoteSession, private CallCarrier {
 public:
  Http1ClientSession(RemotePort& port, std::string authority) : port_(port), authority_(std::move(authority)) {}

  bool can_take() const override { return !call_ && !closing_; }
  bool runs_one_call() const override { return true; }
  bool idle() const override { return !call_; }
  bool runs_only_lasting() const override { return call_ && call_->lasting(); }
  bool finished() const override { return !call_ && closing_; }
  void retire() override {
    closing_ = true;
    port_.want_flush();
  }
  bool wants_input() const override { return !call_ || call_->unread() < RemoteCall::kWindow; }

  void start(RemoteCallRef call) override {
    call_ = std::move(call);
    const HttpCall& request = call_->request();
    parser_.emplace(request.method == "HEAD");
    interim_ = 0;
    const std::string_view host = find_header(request.headers, "Host");
    out_.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\nHost: ");
    out_.append(host.empty() ? std::string_view(authority_) : host).append("\r\n");
    for (const auto& [name, value] : request.headers) {
      // A streamed body has its length in HttpCall::body_size; the field is written below.
      if (equal_ignoring_case(name, "Host") || (call_->streams_body() && equal_ignoring_case(name, "Content-Length"))) continue;
      out_.append(name).append(": ");
      append_line(value);
      out_.append("\r\n");
    }
    uploading_ = call_->streams_body();
    uploaded_ = 0;
    if (uploading_) {
      out_ += request.body_size ? "Content-Length: " + std::to_string(*request.body_size) : "Transfer-Encoding: chunked";
      out_ += "\r\n\r\n";
    } else {
      if (!request.body.empty()) out_ += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
      out_.append("\r\n").append(request.body);
    }
    call_->carried_by(this);
    port_.want_flush();
  }

  void receive(std::string_view bytes) override {
    if (!call_) {
      closing_ = true;  // the server has sent bytes although no request is running
      return port_.want_flush();
    }
    answered_ = true;
    if (switched_) return call_->body(bytes);
    rest_.append(bytes);
    std::size_t done = 0;
    while (call_ && done < rest_.size()) {
      AnswerParser::Error error;
      parser_->body.clear();
      const std::size_t used = parser_->put(boost::asio::buffer(rest_.data() + done, rest_.size() - done), error);
      done += used;
      deliver_held();
      if (error == beast_http::error::need_more || (!error && used == 0 && !parser_->is_done())) break;
      if (error) return fail("malformed HTTP response: " + error.message());
      if (parser_->is_done()) complete();
      if (switched_) break;
    }
    rest_.erase(0, done);
    if (!call_ && !rest_.empty()) {  // bytes after the response: they must not become the response of the next call
      closing_ = true;
      rest_.clear();
    }
    if (switched_) return call_->body(std::exchange(rest_, {}));
    if (rest_.size() > kMaxUnparsed) fail("malformed HTTP response: it has no end");
  }

  void receive_end() override {
    closing_ = true;
    if (!call_) return;
    if (switched_) return std::exchange(call_, nullptr)->end();
    if (!parser_->got_some()) return;  // the connection then calls lost(), which fails or returns the call
    AnswerParser::Error error;
    parser_->body.clear();
    parser_->put_eof(error);
    if (error || !parser_->is_done()) return;  // the connection then calls lost(), which fails or returns the call
    deliver_held();
    complete();
  }

  void fill(std::string& out, std::size_t budget) override {
    out.append(out_);
    out_.clear();
    if (out_.capacity() > kKeptHead) out_.shrink_to_fit();  // out_ has held a request body
    if (call_ && switched_) return fill_switched(out, budget);
    while (call_ && uploading_ && out.size() < budget) {
      const std::string piece = call_->take_body(budget - out.size());
      if (!piece.empty()) {
        if (!send_piece(out, piece)) return;
      } else if (call_->body_taken()) {
        end_upload(out);
      } else {
        return;
      }
    }
  }

  std::vector<RemoteCallRef> lost(const Status& why) override {
    std::vector<RemoteCallRef> again;
    closing_ = true;
    if (auto call = std::exchange(call_, nullptr)) {
      if (!answered_ && may_be_repeated(call->request())) {
        again.push_back(std::move(call));
      } else {
        call->fail(call->has_head() && why.message() == "EOF" ? service_unavailable("unexpected EOF") : why);
      }
    }
    return again;
  }

 private:
  void call_read(RemoteCall&, std::size_t) override { port_.want_read(); }
  void call_has_body(RemoteCall&) override { port_.want_flush(); }
  // The server cannot be told to stop the response, so the connection is closed.
  void call_cancelled(RemoteCall&) override {
    call_.reset();
    closing_ = true;
    port_.want_flush();
  }
  // Replaces line breaks by blanks, so that a value cannot begin another header line.
  void append_line(std::string_view value) {
    const auto from = static_cast<std::ptrdiff_t>(out_.size());
    out_.append(value);
    // Line breaks are rare, and three searches are faster than a test of each character.
    for (const char c : {'\r', '\n', '\0'}) {
      if (value.find(c) != std::string_view::npos) std::replace(out_.begin() + from, out_.end(), c, ' ');
    }
  }
  void fill_switched(std::string& out, std::size_t budget) {
    if (out.size() < budget) out += call_->take_body(budget - out.size());
    if (!call_->body_taken()) return;
    // After an upgrade, the end of the body closes the connection.
    closing_ = true;
    std::exchange(call_, nullptr)->end();
    port_.want_flush();
  }
  // Returns false if the body is longer than its Content-Length. The call has failed then.
  bool send_piece(std::string& out, const std::string& piece) {
    uploaded_ += piece.size();
    const auto& size = call_->request().body_size;
    if (size && uploaded_ > *size) {
      fail("http: ContentLength=" + std::to_string(*size) + " with Body length " + std::to_string(uploaded_));
      return false;
    }
    if (size) {
      out.append(piece);
      return true;
    }
    char head[24];
    std::snprintf(head, sizeof head, "%zx\r\n", piece.size());
    out.append(head).append(piece).append("\r\n");
    return true;
  }
  void end_upload(std::string& out) {
    uploading_ = false;
    const auto& size = call_->request().body_size;
    if (!size) {
      out.append("0\r\n\r\n");
    } else if (uploaded_ < *size) {
      fail("http: ContentLength=" + std::to_string(*size) + " with Body length " + std::to_string(uploaded_));
    }
  }
  void deliver_held() {
    const bool interim = parser_->code >= 100 && parser_->code < 200;
    if (parser_->is_header_done() && !interim && !call_->has_head()) call_->head(parser_->code, std::move(parser_->headers));
    if (!parser_->body.empty()) call_->body(parser_->body);
  }
  void complete() {
    if (parser_->code == 101) return switch_protocols();
    if (parser_->code < 200) {  // 100 Continue: the final response follows
      if (++interim_ > kMaxInterim) return fail("net/http: too many 1xx informational responses");
      parser_.emplace(call_->request().method == "HEAD");
      return;
    }
    // If the response is complete before the request body, the connection is closed: the server could parse the rest of the body as the
    // next request.
    if (!parser_->keep_alive() || std::exchange(uploading_, false)) closing_ = true;
    answered_ = false;
    const RemoteCallRef call = std::exchange(call_, nullptr);
    if (!parser_->trailers.empty()) call->trailers(std::move(parser_->trailers));
    call->end();
    if (closing_) port_.want_flush();
    port_.has_room();
  }
  void switch_protocols() {
    if (!call_->request().upgrade) {
      const std::string protocol(find_header(parser_->headers, "Upgrade"));
      return fail("backend tried to switch protocol " + quoted(protocol) + " when \"\" was requested");
    }
    switched_ = true;
    call_->head(parser_->code, std::move(parser_->headers));
  }
  void fail(const std::string& why) {
    closing_ = true;
    if (auto call = std::exchange(call_, nullptr)) call->fail(service_unavailable(why));
    port_.want_flush();
  }

  RemotePort& port_;
  const std::string authority_;
  RemoteCallRef call_;
  std::optional<AnswerParser> parser_;
  std::string out_;
  std::string rest_;       // received bytes that are not parsed yet
  bool answered_ = false;  // bytes of the running call's response have arrived
  bool closing_ = false;
  bool uploading_ = false;  // the running call's request body is not sent completely
  bool switched_ = false;   // the connection has been upgraded
  int interim_ = 0;
  std::uint64_t uploaded_ = 0;
};

}  // namespace

bool may_be_repeated(const HttpCall& call) noexcept {
  return call.body_source == nullptr && !call.upgrade && (call.method == "GET" || call.method == "HEAD" || call.method == "OPTIONS");
}

std::unique_ptr<RemoteSession> make_http1_client_session(RemotePort& port, std::string authority) {
  return std::make_unique<Http1ClientSession>(port, std::move(authority));
}

}  // namespace backplane
