// The functions of the host's tables that a plugin in a runner process calls, except the registrations.
#include <algorithm>

#include "runner/registrations.hpp"

namespace backplane::runner {
namespace {

constexpr std::size_t kPage = 128 * 1024;  // a call of visit() is sent when its objects have this many bytes

template <class T>
T taken(Reader& in) {
  T value{};
  take(in, value);
  return value;
}

// Writes a text that the host has returned, or the error if the text is null.
void put_given(Writer& out, const bp_host& host, bp_text* text, const bp_error& error) {
  put(out, text);
  put(out, error);
  if (text != nullptr) host.release(text);
}

}  // namespace

Registrations::Serve Registrations::serving(Function function) {
  struct Row {
    Function first, last;
    Serve work;
  };
  static constexpr Row kRows[] = {{Function::kLog, Function::kFlag, &Registrations::use_host},
                                  {Function::kStopping, Function::kStopping, &Registrations::use_host},
                                  {Function::kWarn, Function::kAnnotate, &Registrations::use_request},
                                  {Function::kHeader, Function::kHeader, &Registrations::use_request},
                                  {Function::kGet, Function::kRemove, &Registrations::use_client},
                                  {Function::kInformerGet, Function::kSynced, &Registrations::use_informer},
                                  {Function::kEnqueue, Function::kEnqueueAfter, &Registrations::use_queue}};
  const auto* const found =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.first <= function && function <= row.last; });
  return found == std::end(kRows) ? nullptr : found->work;
}

Status Registrations::use_host(Function function, Reader& in, Writer& out) {
  if (function == Function::kStopping) {
    put(out, host_table<bp_lifecycle_table>(BP_LIFECYCLE_TABLE).stopping(host_->context));
  } else if (function == Function::kLog) {
    const auto level = taken<std::int32_t>(in);
    host_->log(host_->context, level, taken<bp_str>(in));
  } else {
    put_given(out, *host_, host_->flag(host_->context, taken<bp_str>(in)), {});
  }
  return {};
}

// The calls of this function refer to the request of the callback that waits on this thread.
Status Registrations::use_request(Function function, Reader& in, Writer& out) {
  const CallSubject& subject = call_subject();
  if (function == Function::kHeader) {
    if (subject.exchange == nullptr) return bad_request("there is no request on this thread");
    const bp_str value = host_table<bp_http_table>(BP_HTTP_TABLE).header(subject.exchange, taken<bp_str>(in));
    put(out, static_cast<std::uint8_t>(value.data != nullptr));
    put(out, value);
    return {};
  }
  if (subject.request == nullptr) return bad_request("there is no write on this thread");
  const auto& admission = host_table<bp_admission_table>(BP_ADMISSION_TABLE);
  const auto first = taken<bp_str>(in);
  if (function == Function::kWarn) {
    admission.warn(subject.request, first);
    return {};
  }
  bp_error error{};
  put(out, admission.annotate(subject.request, first, taken<bp_str>(in), &error));
  put(out, error);
  return {};
}

Status Registrations::use_client(Function function, Reader& in, Writer& out) {
  const auto& client = host_table<bp_client_table>(BP_CLIENT_TABLE);
  const auto resource = taken<bp_resource>(in);
  const auto ns = taken<bp_str>(in);
  const auto a = taken<bp_str>(in), b = taken<bp_str>(in), c = taken<bp_str>(in);
  const auto type = taken<std::int32_t>(in);
  if (in.failed()) return {};
  bp_error error{};
  bp_text* answer = nullptr;
  switch (function) {
    case Function::kGet:
      answer = client.get(host_->context, &resource, ns, a, &error);
      break;
    case Function::kList:
      answer = client.list(host_->context, &resource, ns, a, b, &error);
      break;
    case Function::kCreate:
      answer = client.create(host_->context, &resource, ns, a, &error);
      break;
    case Function::kUpdate:
      answer = client.update(host_->context, &resource, ns, a, b, &error);
      break;
    case Function::kPatch:
      answer = client.patch(host_->context, &resource, ns, a, b, type, c, &error);
      break;
    default:
      answer = client.remove(host_->context, &resource, ns, a, b, &error);
      break;
  }
  put_given(out, *host_, answer, error);
  return {};
}

Status Registrations::use_informer(Function function, Reader& in, Writer& out) {
  bp_informer* const informer = informer_of(taken<std::uint32_t>(in));
  if (informer == nullptr) return bad_request("there is no such informer");
  const auto& controllers = host_table<bp_controllers_table>(BP_CONTROLLERS_TABLE);
  if (function == Function::kInformerGet) {
    put_given(out, *host_, controllers.get(informer, taken<bp_str>(in)), {});
  } else {
    put(out, function == Function::kEach ? visit_all(informer) : controllers.synced(informer));
  }
  return {};
}

// Sends the objects in pages, each with a nested call of kVisit, to the thread of the runner process that waits for each().
int32_t Registrations::visit_all(bp_informer* informer) {
  struct Pages {
    Caller& caller;
    Proxy nothing;
    Writer page;
    int32_t send() {
      Writer full;
      std::swap(full, page);
      const auto answer = caller.call(Function::kVisit, nothing, full.take());
      if (!answer.ok()) return -1;
      Reader in(*answer);
      return taken<std::int32_t>(in);
    }
  } pages{caller_, {caller_, 0, "informer"}, {}};
  const int32_t answer =
      host_table<bp_controllers_table>(BP_CONTROLLERS_TABLE).each(informer, &pages, [](void* self, bp_str key, bp_str object) -> int32_t {
        auto& to = *static_cast<Pages*>(self);
        put(to.page, key);
        put(to.page, object);
        return to.page.bytes().size() < kPage ? 0 : to.send();
      });
  return answer != 0 || pages.page.bytes().empty() ? answer : pages.send();
}

Status Registrations::use_queue(Function function, Reader& in, Writer&) {
  Proxy* const controller = proxy_of(taken<std::uint32_t>(in));
  const auto key = taken<bp_str>(in);
  bp_queue* const queue = controller != nullptr ? controller->queue.load() : nullptr;
  if (queue == nullptr) return bad_request("there is no such queue");
  const auto& controllers = host_table<bp_controllers_table>(BP_CONTROLLERS_TABLE);
  if (function == Function::kEnqueue) {
    controllers.enqueue(queue, key);
  } else {
    controllers.enqueue_after(queue, key, taken<std::uint64_t>(in));
  }
  return {};
}

}  // namespace backplane::runner
