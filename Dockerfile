# pfeseg as a command in a container:
#
#     docker build -t pfeseg .
#     docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/data" pfeseg segment photo.jpg
#
# It installs the release from PyPI, as a wheel, and so needs no compiler and nothing of this folder.
FROM python:3.12-slim
RUN pip install --no-cache-dir --only-binary :all: 'pfeseg[all]==0.2.0' && pfeseg --version
ENV MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /data
ENTRYPOINT ["pfeseg"]
CMD ["--help"]
