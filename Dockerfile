# The image contains the npm package and nothing of the checkout. It has no compiled code, so it builds for every platform of the
# base image: docker buildx build --platform linux/amd64,linux/arm64 .
# To pin the base image by digest, build with NODE_IMAGE=node:24-slim@sha256:…: see compose.yaml.
ARG NODE_IMAGE=node:24-slim

# JavaScript is the same everywhere, so it is built once, on the machine's own platform.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS package
WORKDIR /app
COPY package.json package-lock.json ./
COPY server/package.json server/
COPY client/package.json client/
COPY console/package.json console/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm run package -- /packages

FROM ${NODE_IMAGE}
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git openssh-client && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=package,source=/packages,target=/packages \
  npm install --global --offline --no-audit --no-fund /packages/promptledger-[0-9]*.tgz
RUN mkdir /data && chown node:node /data
USER node
WORKDIR /data
ENV HOST=0.0.0.0 DATABASE_URL=sqlite:/data/promptledger.db
VOLUME /data
EXPOSE 3000
HEALTHCHECK --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Large buffers return to the system when they are freed: see docs/operations/overload.md.
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=32768 MALLOC_TRIM_THRESHOLD_=131072
ENTRYPOINT ["node", "/usr/local/lib/node_modules/promptledger/dist/bin.js"]
CMD ["serve"]
