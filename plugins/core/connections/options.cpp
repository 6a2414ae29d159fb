#include "connections/options.hpp"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <charconv>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kStreams[] = {"All", "Stderr", "Stdout"};
// The value of a time parameter that is empty.
constexpr std::string_view kZeroTime = "0001-01-01T00:00:00Z";

// Any text except "false" and "0" is true, even an empty text.
bool read_bool(const Query& query, std::string_view key) {
  if (!query_has(query, key)) return false;
  const std::string_view text = query_get(query, key);
  return text != "0" && !boost::algorithm::iequals(text, "false");
}

std::string number_error(const char* function, std::string_view text, bool out_of_range) {
  return std::string("strconv.") + function + ": parsing " + quoted(text) + ": " + (out_of_range ? "value out of range" : "invalid syntax");
}

Status read_int(const Query& query, std::string_view key, std::optional<std::int64_t>& out) {
  if (!query_has(query, key)) return {};
  const std::string_view text = query_get(query, key);
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole =
      end == digits.data() + digits.size() && !digits.starts_with("+") && !(text.starts_with('+') && digits.starts_with('-'));
  if (error == std::errc::result_out_of_range && whole) return bad_request(number_error("ParseInt", text, true));
  if (error != std::errc() || !whole) return bad_request(number_error("ParseInt", text, false));
  out = value;
  return {};
}

Status read_time(const Query& query, std::string_view key, std::optional<std::string>& out) {
  if (!query_has(query, key)) return {};
  const std::string_view text = query_get(query, key);
  if (text.empty() || text == "null") {
    out = kZeroTime;
    return {};
  }
  const auto seconds = parse_rfc3339(text);
  if (!seconds) {
    return bad_request("parsing time " + quoted(text) + " as \"2006-01-02T15:04:05Z07:00\": cannot parse " + quoted(text) + " as \"2006\"");
  }
  out = format_rfc3339(*seconds);
  return {};
}

bool stays(char c, std::string_view also) {
  const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return word || also.find(c) != std::string_view::npos;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
}

std::string escape_query(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ') {
      out += '+';
    } else if (stays(c, "-_.~")) {
      out += c;
    } else {
      append_escaped(out, c);
    }
  }
  return out;
}

void put_flag(Object& out, const Query& query, std::string_view key) {
  if (read_bool(query, key)) out[key] = true;
}

Object options_object(std::string_view kind) { return Object{{"kind", kind}, {"apiVersion", "v1"}}; }

Object stream_options(std::string_view kind, const Query& query) {
  Object out = options_object(kind);
  for (const char* key : {"stdin", "stdout", "stderr", "tty"}) put_flag(out, query, key);
  if (const auto container = query_get(query, "container"); !container.empty()) out["container"] = container;
  return out;
}

// The field path that upstream prints for an error about two fields together.
constexpr std::string_view kNoField = "[]";

}  // namespace

std::string encode_query(Query pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out;
  for (const auto& [key, value] : pairs) {
    if (!out.empty()) out += '&';
    out.append(escape_query(key)).append("=").append(escape_query(value));
  }
  return out;
}

std::string escape_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (stays(c, "-_.~$&+,/:;=@!*'()")) {
      out += c;
    } else {
      append_escaped(out, c);
    }
  }
  return out;
}

// ---- pods/log

Result<LogOptions> read_log_options(const Query& query) {
  LogOptions out;
  out.container = query_get(query, "container");
  out.follow = read_bool(query, "follow");
  out.previous = read_bool(query, "previous");
  Status status = read_int(query, "sinceSeconds", out.since_seconds);
  if (status.ok()) status = read_time(query, "sinceTime", out.since_time);
  out.timestamps = read_bool(query, "timestamps");
  if (status.ok()) status = read_int(query, "tailLines", out.tail_lines);
  if (status.ok()) status = read_int(query, "limitBytes", out.limit_bytes);
  if (!status.ok()) return status;
  out.skip_tls_verify = read_bool(query, "insecureSkipTLSVerifyBackend");
  if (query_has(query, "stream")) out.stream = query_get(query, "stream");
  return out;
}

Status check_log_options(LogOptions& options, std::string_view pod, bool streams) {
  if (streams && !options.stream) options.stream = "All";
  FieldErrors errors;
  if (options.tail_lines && *options.tail_lines < 0) {
    errors.invalid("tailLines", *options.tail_lines, "must be greater than or equal to 0");
  }
  if (options.limit_bytes && *options.limit_bytes < 1) errors.invalid("limitBytes", *options.limit_bytes, "must be greater than 0");
  if (options.since_seconds && options.since_time) {
    errors.forbidden(std::string(kNoField), "at most one of `sinceTime` or `sinceSeconds` may be specified");
  } else if (options.since_seconds && *options.since_seconds < 1) {
    errors.invalid("sinceSeconds", *options.since_seconds, "must be greater than 0");
  }
  if (streams) {
    if (std::find(std::begin(kStreams), std::end(kStreams), *options.stream) == std::end(kStreams)) {
      errors.not_supported("stream", *options.stream, {std::begin(kStreams), std::end(kStreams)});
    }
    if (*options.stream != "All" && options.tail_lines) {
      errors.forbidden(std::string(kNoField), "`tailLines` and specific `stream` are mutually exclusive for now");
    }
  } else if (options.stream) {
    errors.forbidden("stream", "may not be specified");
  }
  return errors.to_status("", "PodLogOptions", pod);
}

std::string kubelet_query(const LogOptions& options, bool streams) {
  Query out;
  const auto put = [&out](const char* key, const auto& value) {
    if (value) out.emplace_back(key, std::to_string(*value));
  };
  if (options.follow) out.emplace_back("follow", "true");
  if (options.previous) out.emplace_back("previous", "true");
  if (options.timestamps) out.emplace_back("timestamps", "true");
  put("sinceSeconds", options.since_seconds);
  if (options.since_time) out.emplace_back("sinceTime", *options.since_time);
  put("tailLines", options.tail_lines);
  put("limitBytes", options.limit_bytes);
  if (streams && options.stream) out.emplace_back("stream", *options.stream);
  return encode_query(std::move(out));
}

std::vector<ConnectParameter> log_parameters() {
  return {{"container"},
          {"follow", "boolean"},
          {"insecureSkipTLSVerifyBackend", "boolean"},
          {"limitBytes", "integer"},
          {"previous", "boolean"},
          {"sinceSeconds", "integer"},
          {"stream"},
          {"tailLines", "integer"},
          {"timestamps", "boolean"}};
}

// ---- exec, attach, portforward

Object read_exec_options(const Query& query) {
  Object out = stream_options("PodExecOptions", query);
  Array command;
  for (const auto& [key, value] : query) {
    if (key == "command") command.emplace_back(value);
  }
  out["command"] = command.empty() ? Value() : Value(std::move(command));
  return out;
}

Object read_attach_options(const Query& query) { return stream_options("PodAttachOptions", query); }

Result<Object> read_port_forward_options(const Query& query) {
  Object out = options_object("PodPortForwardOptions");
  Array ports;
  for (const auto& [key, value] : query) {
    if (key != "ports") continue;
    for (std::size_t begin = 0; begin <= value.size();) {
      const auto end = std::min(value.find(',', begin), value.size());
      const std::string_view text = std::string_view(value).substr(begin, end - begin);
      unsigned port = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
      const bool digits = stop == text.data() + text.size() && (error == std::errc() || error == std::errc::result_out_of_range);
      if (!digits || text.empty() || error != std::errc() || port > 0xffff) {
        return bad_request("cannot convert to []int32: " + number_error("ParseUint", text, digits && !text.empty()));
      }
      ports.emplace_back(static_cast<std::int64_t>(port));
      begin = end + 1;
    }
  }
  if (!ports.empty()) out["ports"] = std::move(ports);
  return out;
}

std::vector<ConnectParameter> exec_parameters() {
  auto out = attach_parameters();
  out.push_back({"command"});
  return out;
}

std::vector<ConnectParameter> attach_parameters() {
  return {{"container"}, {"stderr", "boolean"}, {"stdin", "boolean"}, {"stdout", "boolean"}, {"tty", "boolean"}};
}

std::vector<ConnectParameter> port_forward_parameters() { return {{"ports", "integer"}}; }

std::string kubelet_query(const Object& options) {
  constexpr std::pair<const char*, const char*> kFlags[] = {{"stdin", "input"}, {"stdout", "output"}, {"stderr", "error"}, {"tty", "tty"}};
  Query out;
  for (const auto& [member, parameter] : kFlags) {
    if (get_bool(options, member).value_or(false)) out.emplace_back(parameter, "1");
  }
  if (const Array* command = get_array(options, "command")) {
    for (const Value& word : *command) out.emplace_back("command", std::string(text_of(word)));
  }
  if (const Array* ports = get_array(options, "ports"); ports != nullptr && !ports->empty()) {
    std::string list;
    for (const Value& port : *ports) list.append(list.empty() ? "" : ",").append(std::to_string(port.to_number<std::int64_t>()));
    out.emplace_back("port", std::move(list));
  }
  return encode_query(std::move(out));
}

}  // namespace backplane::core
