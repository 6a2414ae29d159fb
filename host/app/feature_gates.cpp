#include "app/feature_gates.hpp"

#include <algorithm>
#include <iterator>

#include "app/flag_values.hpp"

namespace backplane {
namespace {

enum class Stage : unsigned char { kAlpha, kBeta };

struct Gate {
  std::string_view name;
  bool on;
  Stage stage;
};

// The gates of Kubernetes v1.36 that can still be set, by name.
constexpr Gate kGates[] = {
    {"APIResponseCompression", true, Stage::kBeta},
    {"APIServerIdentity", true, Stage::kBeta},
    {"APIServingWithRoutine", false, Stage::kAlpha},
    {"AllAlpha", false, Stage::kAlpha},
    {"AllBeta", false, Stage::kBeta},
    {"AllowParsingUserUIDFromCertAuth", true, Stage::kBeta},
    {"AllowUnsafeMalformedObjectDeletion", false, Stage::kAlpha},
    {"AtomicFIFO", true, Stage::kBeta},
    {"AuthorizePodWebsocketUpgradeCreatePermission", true, Stage::kBeta},
    {"CBORServingAndStorage", false, Stage::kAlpha},
    {"CPUManagerPolicyAlphaOptions", false, Stage::kAlpha},
    {"CPUManagerPolicyBetaOptions", true, Stage::kBeta},
    {"CRDObservedGenerationTracking", true, Stage::kBeta},
    {"CRIListStreaming", false, Stage::kAlpha},
    {"CSIVolumeHealth", false, Stage::kAlpha},
    {"ClearingNominatedNodeNameAfterBinding", true, Stage::kBeta},
    {"ClientsAllowCARotation", true, Stage::kBeta},
    {"ClientsAllowCBOR", false, Stage::kAlpha},
    {"ClientsAllowTLSCacheGC", true, Stage::kBeta},
    {"ClientsPreferCBOR", false, Stage::kAlpha},
    {"CloudControllerManagerWatchBasedRoutesReconciliation", false, Stage::kAlpha},
    {"CloudControllerManagerWebhook", false, Stage::kAlpha},
    {"ClusterTrustBundle", false, Stage::kBeta},
    {"ClusterTrustBundleProjection", false, Stage::kBeta},
    {"ComponentFlagz", true, Stage::kBeta},
    {"ComponentStatusz", true, Stage::kBeta},
    {"ConcurrentWatchObjectDecode", false, Stage::kBeta},
    {"ConstrainedImpersonation", true, Stage::kBeta},
    {"ContainerCheckpoint", true, Stage::kBeta},
    {"ContainerRestartRules", true, Stage::kBeta},
    {"ContainerStopSignals", false, Stage::kAlpha},
    {"ContextualLogging", true, Stage::kBeta},
    {"ControllerManagerReleaseLeaderElectionLockOnExit", false, Stage::kAlpha},
    {"CoordinatedLeaderElection", false, Stage::kBeta},
    {"CrossNamespaceVolumeDataSource", false, Stage::kAlpha},
    {"DRAConsumableCapacity", true, Stage::kBeta},
    {"DRADeviceBindingConditions", true, Stage::kBeta},
    {"DRADeviceTaintRules", false, Stage::kBeta},
    {"DRADeviceTaints", true, Stage::kBeta},
    {"DRAExtendedResource", true, Stage::kBeta},
    {"DRAListTypeAttributes", false, Stage::kAlpha},
    {"DRANodeAllocatableResources", false, Stage::kAlpha},
    {"DRAPartitionableDevices", true, Stage::kBeta},
    {"DRAResourceClaimDeviceStatus", true, Stage::kBeta},
    {"DRAResourceClaimGranularStatusAuthorization", true, Stage::kBeta},
    {"DRAResourcePoolStatus", false, Stage::kAlpha},
    {"DRASchedulerFilterTimeout", true, Stage::kBeta},
    {"DRAWorkloadResourceClaims", false, Stage::kAlpha},
    {"DeclarativeValidationBeta", true, Stage::kBeta},
    {"DeploymentReplicaSetTerminatingReplicas", true, Stage::kBeta},
    {"DetectCacheInconsistency", true, Stage::kBeta},
    {"EnvFiles", true, Stage::kBeta},
    {"EventedPLEG", false, Stage::kAlpha},
    {"ExtendWebSocketsToKubelet", true, Stage::kBeta},
    {"GangScheduling", false, Stage::kAlpha},
    {"GenericWorkload", false, Stage::kAlpha},
    {"GracefulNodeShutdown", true, Stage::kBeta},
    {"GracefulNodeShutdownBasedOnPodPriority", true, Stage::kBeta},
    {"HPAConfigurableTolerance", true, Stage::kBeta},
    {"HPAScaleToZero", false, Stage::kAlpha},
    {"HostnameOverride", true, Stage::kBeta},
    {"ImageVolumeWithDigest", false, Stage::kAlpha},
    {"InOrderInformersBatchProcess", true, Stage::kBeta},
    {"InPlacePodLevelResourcesVerticalScaling", true, Stage::kBeta},
    {"InPlacePodVerticalScalingExclusiveCPUs", false, Stage::kAlpha},
    {"InPlacePodVerticalScalingExclusiveMemory", false, Stage::kAlpha},
    {"InPlacePodVerticalScalingInitContainers", true, Stage::kBeta},
    {"KubeletCrashLoopBackOffMax", true, Stage::kBeta},
    {"KubeletEnsureSecretPulledImages", true, Stage::kBeta},
    {"KubeletInUserNamespace", false, Stage::kAlpha},
    {"KubeletSeparateDiskGC", true, Stage::kBeta},
    {"KubeletServiceAccountTokenForCredentialProviders", true, Stage::kBeta},
    {"ListFromCacheSnapshot", true, Stage::kBeta},
    {"LocalStorageCapacityIsolationFSQuotaMonitoring", false, Stage::kBeta},
    {"LoggingAlphaOptions", false, Stage::kAlpha},
    {"LoggingBetaOptions", true, Stage::kBeta},
    {"ManifestBasedAdmissionControlConfig", false, Stage::kAlpha},
    {"MatchLabelKeysInPodTopologySpread", true, Stage::kBeta},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", true, Stage::kBeta},
    {"MaxUnavailableStatefulSet", false, Stage::kBeta},
    {"MemoryQoS", false, Stage::kAlpha},
    {"MutablePVNodeAffinity", false, Stage::kAlpha},
    {"MutablePodResourcesForSuspendedJobs", true, Stage::kBeta},
    {"MutableSchedulingDirectivesForSuspendedJobs", true, Stage::kBeta},
    {"NativeHistograms", false, Stage::kAlpha},
    {"NodeDeclaredFeatures", true, Stage::kBeta},
    {"NominatedNodeNameForExpectation", true, Stage::kBeta},
    {"OpenAPIEnums", true, Stage::kBeta},
    {"OpportunisticBatching", true, Stage::kBeta},
    {"PLEGOnDemandRelist", true, Stage::kBeta},
    {"PersistentVolumeClaimUnusedSinceTime", false, Stage::kAlpha},
    {"PodAndContainerStatsFromCRI", false, Stage::kAlpha},
    {"PodCertificateRequest", false, Stage::kBeta},
    {"PodDeletionCost", true, Stage::kBeta},
    {"PodLevelResourceManagers", false, Stage::kAlpha},
    {"PodLevelResources", true, Stage::kBeta},
    {"PodLogsQuerySplitStreams", false, Stage::kAlpha},
    {"PodReadyToStartContainersCondition", true, Stage::kBeta},
    {"PodTopologyLabelsAdmission", true, Stage::kBeta},
    {"PodsAPI", false, Stage::kAlpha},
    {"PortForwardWebsockets", true, Stage::kBeta},
    {"PreventStaticPodAPIReferences", true, Stage::kBeta},
    {"QOSReserved", false, Stage::kAlpha},
    {"ReduceDefaultCrashLoopBackOffDecay", false, Stage::kAlpha},
    {"RelaxedServiceNameValidation", true, Stage::kBeta},
    {"ReloadKubeletClientCAFile", true, Stage::kBeta},
    {"ReloadKubeletServerCertificateFile", true, Stage::kBeta},
    {"RemoteRequestHeaderUID", true, Stage::kBeta},
    {"ResourceHealthStatus", true, Stage::kBeta},
    {"ResourceHealthStatusMessage", true, Stage::kBeta},
    {"RestartAllContainersOnContainerExits", true, Stage::kBeta},
    {"RotateKubeletServerCertificate", true, Stage::kBeta},
    {"RuntimeClassInImageCriApi", false, Stage::kAlpha},
    {"SELinuxMount", false, Stage::kBeta},
    {"SchedulerAsyncAPICalls", false, Stage::kBeta},
    {"SchedulerAsyncPreemption", true, Stage::kBeta},
    {"SchedulerPopFromBackoffQ", true, Stage::kBeta},
    {"ServiceAccountNodeAudienceRestriction", true, Stage::kBeta},
    {"ShardedListAndWatch", false, Stage::kAlpha},
    {"SizeBasedListCostEstimate", true, Stage::kBeta},
    {"StaleControllerConsistencyDaemonSet", true, Stage::kBeta},
    {"StaleControllerConsistencyJob", true, Stage::kBeta},
    {"StaleControllerConsistencyReplicaSet", true, Stage::kBeta},
    {"StaleControllerConsistencyStatefulSet", true, Stage::kBeta},
    {"StatefulSetSemanticRevisionComparison", true, Stage::kBeta},
    {"StorageCapacityScoring", false, Stage::kAlpha},
    {"StorageVersionAPI", false, Stage::kAlpha},
    {"StorageVersionHash", true, Stage::kBeta},
    {"StorageVersionMigrator", false, Stage::kBeta},
    {"StrictIPCIDRValidation", true, Stage::kBeta},
    {"StructuredAuthenticationConfigurationEgressSelector", true, Stage::kBeta},
    {"StructuredAuthenticationConfigurationJWKSMetrics", true, Stage::kBeta},
    {"TaintTolerationComparisonOperators", false, Stage::kAlpha},
    {"TokenRequestServiceAccountUIDValidation", true, Stage::kBeta},
    {"TopologyAwareWorkloadScheduling", false, Stage::kAlpha},
    {"TopologyManagerPolicyAlphaOptions", false, Stage::kAlpha},
    {"TopologyManagerPolicyBetaOptions", true, Stage::kBeta},
    {"TranslateStreamCloseWebsocketRequests", true, Stage::kBeta},
    {"UnauthenticatedHTTP2DOSMitigation", true, Stage::kBeta},
    {"UnknownVersionInteroperabilityProxy", true, Stage::kBeta},
    {"UnlockWhileProcessingFIFO", true, Stage::kBeta},
    {"UserNamespacesHostNetworkSupport", false, Stage::kAlpha},
    {"VolumeLimitScaling", false, Stage::kAlpha},
    {"WatchCacheInitializationPostStartHook", true, Stage::kBeta},
    {"WatchList", true, Stage::kBeta},
    {"WatchListClient", true, Stage::kBeta},
    {"WindowsCPUAndMemoryAffinity", false, Stage::kAlpha},
    {"WindowsGracefulNodeShutdown", true, Stage::kBeta},
    {"WorkloadAwarePreemption", false, Stage::kAlpha},
    {"WorkloadWithJob", false, Stage::kAlpha},
};

const Gate* find_gate(std::string_view name) {
  const auto found =
      std::lower_bound(std::begin(kGates), std::end(kGates), name, [](const Gate& gate, std::string_view n) { return gate.name < n; });
  return found == std::end(kGates) || found->name != name ? nullptr : found;
}

// `kube:` names the component; it is the only one here.
std::string_view without_component(std::string_view item) {
  constexpr std::string_view kComponent = "kube:";
  return item.starts_with(kComponent) ? item.substr(kComponent.size()) : item;
}

}  // namespace

FeatureGates::FeatureGates() {
  for (const auto& gate : kGates) on_.emplace(gate.name, gate.on);
}

void FeatureGates::set_stage(std::string_view all, bool on) {
  const Stage stage = all == "AllAlpha" ? Stage::kAlpha : Stage::kBeta;
  for (const auto& gate : kGates) {
    if (gate.stage == stage && gate.name != "AllAlpha" && gate.name != "AllBeta") on_.find(gate.name)->second = on;
  }
}

std::vector<std::string> FeatureGates::set(const std::vector<std::string>& items) {
  std::vector<std::string> problems;
  // AllAlpha and AllBeta first: a gate that is named itself wins.
  for (const bool stages : {true, false}) {
    for (const auto& item : items) {
      const std::string_view pair = without_component(item);
      if (pair.empty()) continue;
      const auto equals = pair.find('=');
      const std::string_view name = pair.substr(0, equals);
      if ((name == "AllAlpha" || name == "AllBeta") != stages) continue;
      const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
      if (equals == std::string_view::npos) {
        problems.push_back("missing bool value for " + std::string(name));
      } else if (auto problem = flag_value_problem(FlagType::kBool, value); !problem.empty()) {
        problems.push_back("invalid value of " + std::string(pair) + ", err: " + problem);
      } else if (find_gate(name) == nullptr) {
        problems.push_back("unrecognized feature gate: " + std::string(name));
      } else {
        on_.find(name)->second = to_bool(value);
        if (stages) set_stage(name, to_bool(value));
      }
    }
  }
  return problems;
}

bool FeatureGates::enabled(std::string_view name) const {
  const auto found = on_.find(name);
  return found != on_.end() && found->second;
}

}  // namespace backplane
