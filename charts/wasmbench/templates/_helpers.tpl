{{/* Name of the chart as a label value. */}}
{{- define "wasmbench.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Name of the objects. Cut so that a suffix still fits. */}}
{{- define "wasmbench.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "wasmbench.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels by which the operator's pod is found. They never change between versions. */}}
{{- define "wasmbench.selectorLabels" -}}
app.kubernetes.io/name: {{ include "wasmbench.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end -}}

{{- define "wasmbench.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "wasmbench.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: wasmbench
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "wasmbench.serviceAccountName" -}}
{{- default (include "wasmbench.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{/* The operator as the API server knows it. */}}
{{- define "wasmbench.username" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "wasmbench.serviceAccountName" . }}
{{- end -}}

{{/* The ServiceAccount of cold start and density probes, the only probes that hold a token. */}}
{{- define "wasmbench.coldStartAccountName" -}}
{{- default (printf "%s-cold-start" (include "wasmbench.fullname" .)) .Values.coldStart.serviceAccountName -}}
{{- end -}}

{{/* The same ServiceAccount as the API server knows it. */}}
{{- define "wasmbench.coldStartUsername" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "wasmbench.coldStartAccountName" . }}
{{- end -}}

{{/* Names of all images, with a space between two. */}}
{{- define "wasmbench.imageNames" -}}
{{- $names := list -}}
{{- range (.Files.Get "catalogue.json" | fromJson).images -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- join " " $names -}}
{{- end -}}

{{/* Reference of one image: {{ include "wasmbench.image" (dict "root" . "name" "probe") }} */}}
{{- define "wasmbench.image" -}}
{{- $values := .root.Values -}}
{{- $override := index $values.images .name -}}
{{- if $override -}}
{{- $override -}}
{{- else -}}
{{- printf "%s/%s:%s" (trimSuffix "/" $values.image.registry) .name (default .root.Chart.AppVersion $values.image.tag) -}}
{{- $digest := index (default dict $values.image.digests) .name -}}
{{- if and $digest (not $values.image.tag) -}}
{{- printf "@%s" $digest -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The operator's configuration; its type is OperatorConfig in operator/core/src/config.rs. */}}
{{- define "wasmbench.config" -}}
operatorNamespace: {{ .Release.Namespace }}
images:
  references:
    {{- range $name := include "wasmbench.imageNames" . | splitList " " }}
    {{ $name }}: {{ include "wasmbench.image" (dict "root" $ "name" $name) | quote }}
    {{- end }}
  pullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.image.architectures }}
imageArchitectures: {{ toJson . }}
{{- end }}
runtimeClasses:
  wasmtime: {{ .Values.runtimeClasses.wasmtime | quote }}
  wasmedge: {{ .Values.runtimeClasses.wasmedge | quote }}
meter: {{ ternary "none" "cgroup" (eq .Values.meter.level "none") }}
noise: {{ .Values.noise }}
limits:
  connections: {{ int .Values.limits.connections }}
  durationSeconds: {{ int .Values.limits.durationSeconds }}
  coldStartConcurrency: {{ int .Values.limits.coldStartConcurrency }}
  densityInstances: {{ int .Values.limits.densityInstances }}
  trials: {{ int .Values.limits.trials }}
  runSeconds: {{ int .Values.limits.runSeconds }}
  {{- with .Values.limits.ttlSecondsAfterFinished }}
  ttlSecondsAfterFinished: {{ int64 . }}
  {{- end }}
  recordMebibytes: {{ int .Values.limits.recordMebibytes }}
  nodeSelector: {{ toJson .Values.limits.nodeSelector }}
  ownContainers: {{ .Values.limits.ownContainers }}
probe:
  cpu: {{ .Values.probe.cpu | quote }}
  memory: {{ .Values.probe.memory | quote }}
{{- if eq .Values.meter.level "node" }}
containerdSocket: {{ .Values.meter.containerdSocket | quote }}
{{- end }}
coldStartServiceAccount: {{ include "wasmbench.coldStartAccountName" . }}
admissionPolicies: {{ .Values.admissionPolicies.enabled }}
watchNamespaces: {{ toJson (.Values.watchNamespaces | default list) }}
hostNetwork: {{ .Values.hostNetwork.enabled }}
scale: {{ toJson .Values.scale }}
{{- end -}}

{{/*
Rules for whoever decides what a run scales: only what the administrator lists, and only those who may patch its scale
themselves. An authorizer maps no kind to a resource, so there is one rule for each. Given the expression "spec" of a
run's spec, and "what" is done.
*/}}
{{- define "wasmbench.scaleValidations" -}}
{{- $root := .root -}}
{{- $spec := .spec -}}
{{- $what := .what -}}
{{- $kinds := list -}}
{{- range $root.Values.scale.resources -}}
{{- $kinds = append $kinds (printf "%s.%s" .resource .group) -}}
{{- end -}}
- message: "runs scale only what the administrator lists in the chart: the kinds of scale.resources, in the namespaces of scale.namespaces"
  reason: Forbidden
  expression: >-
    !has({{ $spec }}.variants) || {{ $spec }}.variants.all(v, !has(v.scale) ||
    {{- if $root.Values.scale.namespaces }}
    (request.namespace in {{ include "wasmbench.celStrings" $root.Values.scale.namespaces }} &&
    (v.scale.resource + '.' + v.scale.group) in {{ include "wasmbench.celStrings" $kinds }}))
    {{- else }}
    false)
    {{- end }}
{{- range $root.Values.scale.resources }}
- message: "to {{ $what }} that scales {{ .resource }}.{{ .group }} you must be allowed to patch {{ .resource }}/scale in its namespace, because the run sets their replicas: ask an administrator for that right, or use container"
  reason: Forbidden
  expression: >-
    !has({{ $spec }}.variants) || !{{ $spec }}.variants.exists(v, has(v.scale) &&
    v.scale.resource == '{{ .resource }}' && v.scale.group == '{{ .group }}') ||
    authorizer.group('{{ .group }}').resource('{{ .resource }}').subresource('scale').namespace(request.namespace).check('patch').allowed()
{{- end }}
{{- end -}}

{{/*
The CEL variables that the checks need, over a pod's spec, given as the expression "spec". Written
without optional types, so that the tests can evaluate them without a cluster.
*/}}
{{- define "wasmbench.podVariables" -}}
- name: spec
  expression: {{ .spec }}
- name: containers
  expression: >-
    variables.spec.containers +
    (has(variables.spec.initContainers) ? variables.spec.initContainers : [])
- name: volumes
  expression: "has(variables.spec.volumes) ? variables.spec.volumes : []"
{{- end -}}

{{/*
CEL: the volume v holds what the probe sends, in the ConfigMap that has its Job's name, and that the Job owns.
*/}}
{{- define "wasmbench.isBodies" -}}
(has(v.configMap) && v.configMap.name == object.metadata.name)
{{- end -}}

{{/* CEL: all mounts are read-only. */}}
{{- define "wasmbench.readOnly" -}}
variables.containers.all(c, !has(c.volumeMounts) ||
c.volumeMounts.all(m, has(m.readOnly) && m.readOnly))
{{- end -}}

{{/* CEL: a list of strings; the schema keeps quotes out of them. */}}
{{- define "wasmbench.celStrings" -}}
['{{ join "', '" . }}']
{{- end -}}

{{/* CEL: the pod holds no token. */}}
{{- define "wasmbench.noToken" -}}
has(variables.spec.automountServiceAccountToken) &&
!variables.spec.automountServiceAccountToken &&
(!has(variables.spec.serviceAccountName) ||
variables.spec.serviceAccountName in ['', 'default'])
{{- end -}}

{{/* CEL: the pod uses only its own network. */}}
{{- define "wasmbench.ownNetwork" -}}
(!has(variables.spec.hostNetwork) || !variables.spec.hostNetwork) &&
variables.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))
{{- end -}}

{{/* Rules for every pod of the operator, subjects and probes alike. */}}
{{- define "wasmbench.podValidations" -}}
- message: "pods of the wasmbench operator share neither the node's processes nor the node's IPC"
  reason: Forbidden
  expression: >-
    (!has(variables.spec.hostPID) || !variables.spec.hostPID) &&
    (!has(variables.spec.hostIPC) || !variables.spec.hostIPC)
- message: "pods of the wasmbench operator run as non-root under the seccomp profile RuntimeDefault, without sysctls and SELinux options"
  reason: Forbidden
  expression: >-
    has(variables.spec.securityContext) &&
    has(variables.spec.securityContext.runAsNonRoot) &&
    variables.spec.securityContext.runAsNonRoot &&
    (!has(variables.spec.securityContext.runAsUser) ||
    variables.spec.securityContext.runAsUser != 0) &&
    has(variables.spec.securityContext.seccompProfile) &&
    variables.spec.securityContext.seccompProfile.type == 'RuntimeDefault' &&
    (!has(variables.spec.securityContext.sysctls) ||
    variables.spec.securityContext.sysctls.size() == 0) &&
    !has(variables.spec.securityContext.seLinuxOptions)
- message: "containers of the wasmbench operator's pods are not privileged, cannot gain privileges, drop ALL capabilities and run as non-root"
  reason: Forbidden
  expression: >-
    variables.containers.all(c, has(c.securityContext) &&
    (!has(c.securityContext.privileged) || !c.securityContext.privileged) &&
    has(c.securityContext.allowPrivilegeEscalation) &&
    !c.securityContext.allowPrivilegeEscalation &&
    has(c.securityContext.capabilities) &&
    has(c.securityContext.capabilities.drop) &&
    'ALL' in c.securityContext.capabilities.drop &&
    (!has(c.securityContext.capabilities.add) ||
    c.securityContext.capabilities.add.size() == 0) &&
    (!has(c.securityContext.runAsNonRoot) || c.securityContext.runAsNonRoot) &&
    (!has(c.securityContext.runAsUser) || c.securityContext.runAsUser != 0) &&
    (!has(c.securityContext.procMount) || c.securityContext.procMount == 'Default') &&
    (!has(c.securityContext.seccompProfile) ||
    c.securityContext.seccompProfile.type == 'RuntimeDefault') &&
    !has(c.securityContext.seLinuxOptions))
- message: "environments of the wasmbench operator's pods hold literal values only, never those of Secrets or ConfigMaps"
  reason: Forbidden
  expression: >-
    variables.containers.all(c, (!has(c.envFrom) || c.envFrom.size() == 0) &&
    (!has(c.env) || c.env.all(e, !has(e.valueFrom))))
{{- end -}}

{{/* The request comes from the operator. */}}
{{- define "wasmbench.isOperator" -}}
- name: is-the-operator
  expression: "request.userInfo.username == '{{ include "wasmbench.username" . }}'"
{{- end -}}

{{/*
The parameter of a policy that binds everybody: the Lease that the operator creates when it first leads. Until then the
policy refuses nothing, so that an installation that is refused itself does not stop the one that works.
*/}}
{{- define "wasmbench.onceItLed" -}}
paramRef:
  name: wasmbench-leader
  namespace: {{ .Release.Namespace }}
  parameterNotFoundAction: Allow
{{- end -}}

{{/* The request comes from the operator, or from a cold start or density probe. */}}
{{- define "wasmbench.isOurs" -}}
- name: is-the-operator-or-a-cold-start
  expression: >-
    request.userInfo.username in ['{{ include "wasmbench.username" . }}',
    '{{ include "wasmbench.coldStartUsername" . }}']
{{- end -}}
