# Pinned by digest, so that every build uses the image that was reviewed. `docker buildx imagetools inspect node:24-slim` shows
# the current digest; github.com/docker-library/repo-info lists those of all official images.
ARG NODE_IMAGE=node:24-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f

# The published package. It needs no other packages.
FROM ${NODE_IMAGE} AS package
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/google-sheets-emulator/package.json ./packages/google-sheets-emulator/
# The pinned Node of the development tools has an install script that the image does not need.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack && tar -xzf forms-mirror-*.tgz

FROM ${NODE_IMAGE}
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=package /app/package ./
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# Checks `start`, or a worker with a WORKER_PORT: it asks both ports, because both may have the same settings. For a worker
# without a WORKER_PORT, use --no-healthcheck.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "Promise.any([process.env.PORT, process.env.WORKER_PORT].filter(Boolean).map((port) => fetch(`http://127.0.0.1:${port}/live`).then((r) => r.ok || Promise.reject()))).then(() => process.exit(0), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/forms-mirror.js"]
CMD ["start"]
