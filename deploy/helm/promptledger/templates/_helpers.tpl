{{- define "promptledger.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "promptledger.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "promptledger.labels" -}}
{{ include "promptledger.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "promptledger.refuseSqlite" -}}
{{- $reason := "One SQLite file is for one process, and the pods keep no file. Use postgres://<user>:<password>@<host>/<database>, or run SQLite in one container: see docs/install.md." -}}
{{- if hasKey (default dict .Values.env) "DATABASE_URL" -}}
{{- fail (printf "env.DATABASE_URL is not used: the URL is the key database-url of the Secret %s. %s" .Values.secretName $reason) -}}
{{- end -}}
{{- /* Empty in `helm template`, and before the Secret exists. */ -}}
{{- $secret := lookup "v1" "Secret" .Release.Namespace .Values.secretName -}}
{{- if hasPrefix "sqlite:" (dig "data" "database-url" "" $secret | b64dec) -}}
{{- fail (printf "The key database-url of the Secret %s is a SQLite URL. %s" .Values.secretName $reason) -}}
{{- end -}}
{{- end -}}
