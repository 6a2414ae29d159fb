#include "app/reencrypt.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "app/reencrypt_progress.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/task_set.hpp"

namespace backplane {
namespace {

constexpr std::size_t kReportedErrors = 20;
constexpr int kAttempts = 6;
constexpr std::chrono::milliseconds kFirstPause{200};
constexpr const char* kMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr const char* kMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

struct ListedResource {
  std::string group, name, path;  // "/apis/apps/v1"
  bool namespaced = false;
  std::string text() const { return group.empty() ? name : name + "." + group; }
};

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~' || c == ':') {
      out += c;
    } else {
      out += {'%', "0123456789ABCDEF"[byte >> 4U], "0123456789ABCDEF"[byte & 15U]};
    }
  }
  return out;
}

HttpCall call_of(std::string method, std::string target, const char* accept) {
  HttpCall call;
  call.method = std::move(method);
  call.target = std::move(target);
  call.headers.emplace_back("Accept", accept);
  return call;
}

bool can(const Object& resource, std::string_view verb) {
  const Array* verbs = get_array(resource, "verbs");
  return verbs != nullptr && std::any_of(verbs->begin(), verbs->end(), [verb](const Value& each) { return text_of(each) == verb; });
}

// A temporary failure: the server is overloaded, or another write conflicts.
bool is_passing(const Status& status) {
  const int code = status.code();
  return code == 409 || code == 429 || code == 503 || code == 504 || never_sent(status);
}

class Reencryption {
 public:
  explicit Reencryption(ReencryptSettings settings) : settings_(std::move(settings)), api_(settings_.client) {}

  Task<Result<ReencryptReport>> run() {
    auto asking = api_.request(call_of("GET", "/debug/store/encryption", "application/json"));
    auto encryption = co_await std::move(asking);
    if (!encryption.ok()) co_return not_encrypted(encryption.status());
    patterns_ = settings_.resources;
    if (const Array* all = get_array(*encryption, "resources"); patterns_.empty() && all != nullptr) {
      for (const Value& each : *all) patterns_.emplace_back(text_of(each));
    }
    progress_ = ReencryptProgress::load(settings_.progress_file, settings_.server, get_string(*encryption, "hash"));
    report_.resumed = progress_.is_resumed();
    auto discovering = discover();
    Status found = co_await std::move(discovering);
    if (!found.ok()) co_return found;
    for (const ListedResource& resource : resources_) {
      if (progress_.is_done(resource.text())) continue;
      auto writing = rewrite(resource);
      co_await std::move(writing);
    }
    if (report_.failed == 0) progress_.remove();
    co_return std::move(report_);
  }

 private:
  static Status not_encrypted(const Status& status) {
    if (status.code() != 404) return status;
    return bad_request("the server does not encrypt: it runs without --encryption-provider-config");
  }

  // ---- which resources

  Task<Status> discover() {
    auto core = discover_version("", "/api/v1");
    Status status = co_await std::move(core);
    if (!status.ok()) co_return status;
    auto forwarding = forwarded_versions();
    const std::set<std::string> forwarded = co_await std::move(forwarding);
    auto listing = api_.request(call_of("GET", "/apis", "application/json"));
    auto groups = co_await std::move(listing);
    if (!groups.ok()) co_return std::move(groups.status());
    std::vector<std::pair<std::string, std::string>> versions;  // group and group version
    each(*groups, "groups", [&](const Object& group, std::size_t) {
      each(group, "versions", [&](const Object& version, std::size_t) {
        std::string text(get_string(version, "groupVersion"));
        if (!forwarded.contains(text)) versions.emplace_back(get_string(group, "name"), std::move(text));
      });
    });
    for (const auto& [group, version] : versions) {
      auto discovering = discover_version(group, "/apis/" + version);
      status = co_await std::move(discovering);
      if (!status.ok()) co_return status;
    }
    std::sort(resources_.begin(), resources_.end(), [](const auto& a, const auto& b) { return a.text() < b.text(); });
    co_return Status();
  }

  // The group versions of aggregated API servers, which have other stores.
  Task<std::set<std::string>> forwarded_versions() {
    std::set<std::string> out;
    auto listing = api_.request(call_of("GET", "/apis/apiregistration.k8s.io/v1/apiservices", "application/json"));
    auto services = co_await std::move(listing);
    if (!services.ok()) co_return out;
    each(*services, "items", [&](const Object& item, std::size_t) {
      const Object& spec = object_or_empty(item, "spec");
      if (has(spec, "service")) out.insert(std::string(get_string(spec, "group")) + "/" + std::string(get_string(spec, "version")));
    });
    co_return out;
  }

  Task<Status> discover_version(std::string group, std::string path) {
    auto listing = api_.request(call_of("GET", path, "application/json"));
    auto found = co_await std::move(listing);
    if (!found.ok()) co_return std::move(found.status());
    each(*found, "resources", [&](const Object& resource, std::size_t) {
      ListedResource listed{group, std::string(get_string(resource, "name")), path, get_bool(resource, "namespaced").value_or(false)};
      const bool known =
          std::any_of(resources_.begin(), resources_.end(), [&](const auto& other) { return other.text() == listed.text(); });
      if (known || listed.name.find('/') != std::string::npos || !can(resource, "list") || !can(resource, "patch")) return;
      if (is_encrypted_resource(patterns_, listed.group, listed.name)) resources_.push_back(std::move(listed));
    });
    co_return Status();
  }

  // ---- one resource

  Task<void> rewrite(const ListedResource& resource) {
    done_ = {resource.text(), 0, 0, 0};
    std::string token = progress_.begin(resource.text());
    bool complete = true;
    for (bool more = true; more;) {
      auto listing = list(resource, token);
      auto page = co_await std::move(listing);
      if (!page.ok()) {
        complete = false;
        fail(resource.text() + ": " + page.status().message());
        break;
      }
      auto writing = rewrite_page(resource, *page);
      co_await std::move(writing);
      token = get_string(object_or_empty(*page, "metadata"), "continue");
      more = !token.empty();
      if (more) progress_.advance(token);
      report_progress(false);
    }
    if (complete) progress_.finish();
    ++report_.resources;
    report_progress(true);
  }

  Task<Result<Object>> list(const ListedResource& resource, std::string token) {
    const std::string path = resource.path + "/" + resource.name + "?limit=" + std::to_string(settings_.page);
    for (int attempt = 0;; ++attempt) {
      auto asking = api_.request(call_of("GET", token.empty() ? path : path + "&continue=" + percent_encode(token), kMetadataList));
      auto page = co_await std::move(asking);
      if (page.ok()) co_return page;
      // The list's revision has been compacted: continues with the newest objects.
      const std::string& newer = page.status().continue_token();
      if (page.status().code() == 410 && newer != token && attempt < kAttempts) {
        token = newer;
        continue;
      }
      if (!is_passing(page.status()) || attempt + 1 >= kAttempts) co_return page;
      auto pause = sleep_for(kFirstPause * (1 << attempt));
      co_await std::move(pause);
    }
  }

  Task<void> rewrite_page(const ListedResource& resource, const Object& page) {
    std::vector<const Object*> items;
    each(page, "items", [&](const Object& item, std::size_t) { items.push_back(&item); });
    std::size_t next = 0;
    std::vector<Task<void>> workers;
    for (std::size_t i = 0; i < std::min(settings_.workers, items.size()); ++i) workers.push_back(work(resource, items, next));
    auto all = when_all(std::move(workers));
    co_await std::move(all);
  }

  // All workers run on one executor, so `next` needs no lock.
  Task<void> work(const ListedResource& resource, const std::vector<const Object*>& items, std::size_t& next) {
    while (next < items.size()) {
      const Object& item = *items[next++];
      auto writing = rewrite_object(resource, item);
      co_await std::move(writing);
    }
  }

  Task<void> rewrite_object(const ListedResource& resource, const Object& item) {
    std::string path = resource.path;
    if (resource.namespaced) path += "/namespaces/" + percent_encode(meta_namespace(item));
    path += "/" + resource.name + "/" + percent_encode(meta_name(item));
    ++done_.objects;
    ++report_.objects;
    for (int attempt = 0;; ++attempt) {
      HttpCall call = call_of("PATCH", path + "?fieldManager=backplane-reencrypt", kMetadata);
      call.headers.emplace_back("Content-Type", "application/merge-patch+json");
      call.body = "{}";
      auto patching = api_.request(std::move(call));
      auto patched = co_await std::move(patching);
      if (patched.ok()) {
        const bool written = meta_text(*patched, "resourceVersion") != meta_text(item, "resourceVersion");
        done_.written += static_cast<std::uint64_t>(written);
        report_.written += static_cast<std::uint64_t>(written);
        co_return;
      }
      if (patched.status().code() == 404) co_return;  // deleted meanwhile
      if (!is_passing(patched.status()) || attempt + 1 >= kAttempts) co_return fail(path + ": " + patched.status().message());
      auto pause = sleep_for(kFirstPause * (1 << attempt));
      co_await std::move(pause);
    }
  }

  void fail(std::string why) {
    ++done_.failed;
    ++report_.failed;
    if (report_.errors.size() < kReportedErrors) report_.errors.push_back(std::move(why));
  }
  void report_progress(bool complete) const {
    if (settings_.progress) settings_.progress(done_, complete);
  }

  const ReencryptSettings settings_;
  ApiClient api_;
  std::vector<std::string> patterns_;
  std::vector<ListedResource> resources_;
  ReencryptProgress progress_;
  ReencryptSettings::Done done_;
  ReencryptReport report_;
};

}  // namespace

bool is_encrypted_resource(const std::vector<std::string>& patterns, std::string_view group, std::string_view resource) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    const std::size_t dot = pattern.find('.');
    const std::string_view name = pattern.substr(0, dot);
    const std::string_view of_group = dot == std::string_view::npos ? std::string_view() : pattern.substr(dot + 1);
    return pattern == "*.*" || (of_group == group && (name == "*" || name == resource));
  });
}

Task<Result<ReencryptReport>> reencrypt(ReencryptSettings settings) {
  Reencryption work(std::move(settings));
  auto running = work.run();
  auto report = co_await std::move(running);
  co_return report;
}

}  // namespace backplane
