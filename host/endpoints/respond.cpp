#include "endpoints/respond.hpp"

#include <stdexcept>

#include "backplane/types/json_reading.hpp"
#include "base/spent_time.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/json_indent.hpp"
#include "endpoints/json_scan.hpp"
#include "endpoints/table_rows.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane {
namespace endpoints {
namespace {

std::string indented(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 2);
  JsonIndenter().feed(json, out);
  return out;
}

// Converts compact JSON to the requested text encoding.
std::string as_text(const MediaType& media, std::string document) {
  if (media.yaml) return yaml_of(document);
  if (media.pretty) return indented(document);
  document.push_back('\n');
  return document;
}

bool is_status(const ObjectEntry& entry) noexcept { return raw_text(entry.json().view(), "kind") == "Status"; }

// Returns the object as a table that has one row.
Result<std::string> as_table(const Resource& resource, RequestContext& context, const MediaType& media, const ObjectEntry& entry) {
  const SpentTime spent(context, &RequestLatencies::transformation);
  auto form = table_form(context.info.query, media, *resource.table, resource.schema);
  if (!form.ok()) return std::move(form.status());
  std::string out;
  append_object_table(out, entry, *form, true);
  return out;
}

// Returns the object or its metadata in the codec's encoding.
Result<std::vector<SharedBytes>> as_object(RequestContext& context, const Presentation& as, const MediaType& media,
                                           const ObjectEntry& entry) {
  const SpentTime spent(context, &RequestLatencies::serialization);
  std::vector<SharedBytes> body;
  body.reserve(2);
  if (!media.yaml && !media.indented()) {
    Status status = media.codec->object(as, entry, body);
    if (!status.ok()) return status;
    return body;
  }
  std::string document;
  if (as.metadata_only) {
    append_metadata_json(document, entry, as);
  } else {
    document = entry.json().view();
  }
  body.emplace_back(as_text(media, std::move(document)));
  return body;
}

// Like unicode.IsControl for the character that begins at `at`: true for ASCII control characters and U+0080 to U+009F.
bool is_control(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  return byte(at) < 0x20 || byte(at) == 0x7F || (byte(at) == 0xC2 && byte(at + 1) < 0xA0);
}

// Like net.NewWarningHeader. The result is empty if the text has control characters.
std::string warning_header(std::string_view text) {
  std::string out = "299 - \"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_control(text, i)) return {};
    if (letter == '"' || letter == '\\') out.push_back('\\');
    out.push_back(letter);
  }
  out.push_back('"');
  return out;
}

// The headers are set before the function returns the task.
Task<void> send_bytes(RequestContext& context, Exchange& exchange, int code, std::string_view content_type, std::vector<SharedBytes> body) {
  add_warning_headers(context, exchange);
  exchange.set_compressible(true);
  return exchange.respond(code, content_type, std::move(body));
}

// The client accepts no offered encoding. Upstream then responds with indented JSON without a newline at the end.
Task<void> send_raw_json(RequestContext& context, Exchange& exchange, int code, std::string_view json) {
  std::vector<SharedBytes> body;
  body.emplace_back(indented(json));
  auto sending = send_bytes(context, exchange, code, "application/json", std::move(body));
  co_await std::move(sending);
}

std::int64_t size_of(const std::vector<SharedBytes>& body) {
  std::int64_t size = 0;
  for (const SharedBytes& part : body) size += static_cast<std::int64_t>(part.size());
  return size;
}

std::string_view without_newline(std::string_view text) noexcept {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string yaml_of(std::string_view json_text) {
  const std::optional<Value> value = read_json(json_text, {});
  return value ? to_yaml(*value) : std::string();
}

const Schema* status_schema() {
  static const Schema* const schema = meta_schemas()->find("io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  return schema;
}

Task<void> send_document(RequestContext& context, Exchange& exchange, MediaType media, int code, std::string document,
                         const Schema* schema) {
  note_response_document(context, document);
  std::vector<SharedBytes> body;
  if (media.codec->is_text()) {
    body.emplace_back(as_text(media, std::move(document)));
  } else {
    ObjectEntry entry;
    entry.set_json(SharedBytes(std::move(document)));
    Status made = media.codec->object({schema, false, false}, entry, body);
    if (!made.ok()) throw std::logic_error("a document that its codec cannot write: " + made.message());
  }
  auto sending = send_bytes(context, exchange, code, media.content_type(), std::move(body));
  co_await std::move(sending);
}

Task<Status> send_object(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, int code,
                         ObjectRef object) {
  Presentation as = media.presentation(resource.schema);
  if (is_status(*object)) {
    as = {status_schema(), false, false};
  } else if (media.shape == Shape::kMetadataList) {
    co_return not_acceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + resource.go_type(false) +
                             ")");
  } else if (media.shape == Shape::kTable) {
    auto document = as_table(resource, context, media, *object);
    if (!document.ok()) co_return std::move(document.status());
    auto sending = send_document(context, exchange, media, code, std::move(*document), nullptr);
    co_await std::move(sending);
    co_return Status();
  }
  TraceSpan span(&context, "SerializeObject", SpanKind::kInternal, TraceSpan::Use::kExported);
  describe_serialization(span, context, exchange, media);
  auto body = as_object(context, as, media, *object);
  if (!body.ok()) co_return std::move(body.status());
  note_response_object(context, *object);
  const std::int64_t size = span.recorded() ? size_of(*body) : 0;
  span.step("About to start writing response", "size", size);
  auto sending = send_bytes(context, exchange, code, media.content_type(), std::move(*body));
  co_await std::move(sending);
  span.step("Write call succeeded", "size", size);
  co_return Status();
}

}  // namespace endpoints

void add_warning_headers(RequestContext& context, Exchange& exchange) {
  for (const std::string& warning : context.warnings()) {
    std::string header = endpoints::warning_header(warning);
    if (!header.empty()) exchange.add_response_header("Warning", std::move(header));
  }
}

Task<void> write_status(RequestContext& context, Exchange& exchange, const Status& status) {
  if (exchange.started()) {
    // A part of the response has been sent. The client must not take it for a complete response.
    exchange.abort();
    co_return;
  }
  endpoints::note_response_status(context, status);
  const StatusDetails* details = status.details();
  if (details != nullptr && details->retry_after_seconds > 0) {
    exchange.set_response_header("Retry-After", std::to_string(details->retry_after_seconds));
  }
  const std::string json = status.to_json();
  const std::string_view compact = endpoints::without_newline(json);
  auto media = endpoints::negotiate(context, exchange, {false, endpoints::status_schema()});
  if (!media.ok()) {
    endpoints::note_response_document(context, compact);
    co_await endpoints::send_raw_json(context, exchange, status.code(), compact);
    co_return;
  }
  std::string document(compact);
  auto sending = endpoints::send_document(context, exchange, *media, status.code(), std::move(document), endpoints::status_schema());
  co_await std::move(sending);
}

Task<void> write_value(RequestContext& context, Exchange& exchange, int code, const Value& value, const Schema* schema) {
  auto media = endpoints::negotiate(context, exchange, {false, schema});
  if (!media.ok()) {
    co_await write_status(context, exchange, media.status());
    co_return;
  }
  std::string document = to_json(value);
  auto sending = endpoints::send_document(context, exchange, *media, code, std::move(document), schema);
  co_await std::move(sending);
}

}  // namespace backplane
